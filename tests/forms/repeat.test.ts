import { describe, expect, test } from 'vitest';
import { useStage, useThemes } from '../support/hooks';
import { locationOf } from '../support/send';
import { html } from '../support/stage';
import { type Form, type Refusal, tags } from './fields/form';
import { repeatApp } from './repeat/app';
import { repeatBrowsers } from './repeat/browsers';

/** Repeated groups of fields (docs/reference/definitions.md#repeated-groups). */
const themes = useThemes(async (copy) => {
  for (const [file, text] of Object.entries(repeatApp)) await copy.write(`main/${file}`, text);
});
const stage = useStage(() => ({ themesDirectory: themes.directory }));

const block = 'party/blocks/party';
const one: Form = { host: 'Ann', 'guests:0': '1', 'guests:0:name': 'Bob', 'guests:0:meal': 'veg' };

const post = (form: Form, accept = html, path = block) => stage.send<Refusal>({ send: `POST ${path}`, accept, form });
const errorsOf = async (form: Form) => {
  const { json, status } = await post({ ...form, _save: '1' }, 'application/json');
  return status === 201 ? [] : json.error.details.errors.map(({ path }) => path.join('.'));
};
const names = (text: string) => tags(text, 'guests:').length;
const values = (text: string) => [...text.matchAll(/name="guests:(\d+):name"[^>]* value="([^"]*)"/g)].map((m) => m[2]);

describe('a repeated group', () => {
  test('shows as many entries as it needs, and their buttons', async () => {
    const { text } = await stage.send({ send: `GET ${block}`, accept: html });
    expect(names(text)).toBe(0);
    expect(text).toContain('<fieldset class="apps-entry"><legend>Guest 1</legend>');
    expect(text).toContain('<option value="veg">No &lt;meat&gt;</option>');
    expect(text.match(/data-apps-stay/g)).toHaveLength(2);
    expect(text).toMatch(/name="guests:add"[^>]*>Add a guest</);
    expect(text).not.toContain('guests:remove');
    expect(text).toMatch(/<form [^>]*>.*?<button type="submit" name="_save" value="1" tabindex="-1" hidden>/s);
  });

  test('is stored as a list of objects, in the order of its numbers, without empty entries', async () => {
    const form = { ...one, 'guests:999999999:name': 'Last', 'guests:7:name': 'Cy', 'guests:7:child': '1' };
    const made = await post({ ...form, 'guests:7:age': '3', 'guests:8:name': '', 'links:0:url': '', _save: '1' });
    expect(made.status).toBe(303);
    const path = locationOf(made).pathname;
    const { json } = await stage.send<{ guests: object[]; links: object[] }>({ send: `GET ${path}` });
    expect(json.guests).toEqual([
      { name: 'Bob', child: false, meal: 'veg', notes: '' },
      { name: 'Cy', child: true, age: 3, meal: null, notes: '' },
      { name: 'Last', child: false, meal: null, notes: '' },
    ]);
    expect(json.links).toEqual([]);
    const { text } = await stage.send({ send: `GET ${path}`, accept: html });
    expect(text).toContain('<ol class="apps-entries"><li><dl><div><dt>Name</dt><dd>Bob</dd></div>');
    expect(text).toContain('<dt>Meal</dt><dd>No &lt;meat&gt;</dd>');
    expect(text).toContain('<dt>Age</dt><dd>3</dd>');
    const edit = await stage.send({ send: `GET ${path}/edit`, accept: html });
    expect(values(edit.text)).toEqual(['Bob', 'Cy', 'Last']);
    const csv = await stage.send({ send: 'GET party/records.csv', accept: '*/*' });
    expect(csv.text).toContain('"[{""name"":""Bob"",""child"":false,');
  });

  test.each<[string, Form, string[]]>([
    ['one guest', one, []],
    ['none', { host: 'a' }, ['guests']],
    ['an empty one that is needed', { host: 'a', 'guests:0': '1', 'guests:0:name': '' }, ['guests.0.name']],
    ['wrong fields', { ...one, 'guests:1:name': '', 'guests:1:child': '1' }, ['guests.1.name', 'guests.1.age']],
    ['an unknown option', { ...one, 'guests:0:meal': 'dog' }, ['guests.0.meal']],
    ['too many', { ...one, ...Object.fromEntries([1, 2, 3, 4].map((n) => [`guests:${n}:name`, 'x'])) }, ['guests']],
    ['no list', { host: 'a', guests: 'Bob' }, ['guests']],
    ['what logic refuses', { ...one, 'guests:0:name': 'Loki' }, ['guests.0.name']],
    ['a wrong address', { ...one, 'links:3:url': 'nowhere' }, ['links.0.url']],
    ['a hidden group', { ...one, host: 'Nemo', 'links:3:url': 'nowhere' }, []],
    ['names that are none', { ...one, 'guests:0:__proto__': 'x', '__proto__:0:name': 'y', 'guests:x:name': 'z' }, []],
    ['deep names', { ...one, 'guests:0:name:0:a': 'x', 'guests:0.name': 'y', [`guests${':0'.repeat(200)}`]: 'z' }, []],
  ])('%s', async (_what, form, wrong) => {
    expect(await errorsOf(form)).toEqual(wrong);
  });

  test('shows messages beside the fields of the entry, and all that was entered', async () => {
    const { status, text } = await post({ ...one, 'guests:5:name': '', 'guests:5:notes': 'n "1"', _save: '1' });
    expect(status).toBe(422);
    expect(values(text)).toEqual(['Bob', '']);
    expect(text).toContain('n &quot;1&quot;');
    const [tag = ''] = tags(text, 'guests:1:name');
    expect(tag).toContain('aria-invalid="true"');
    expect(tag).toContain('autofocus');
    const id = /aria-describedby="([^"]+)"/.exec(tag)?.[1];
    expect(text).toContain(`id="${id}" role="alert">Please fill in this field.`);
    expect(text).not.toContain('apps-errors');
  });

  test.each<[string, Form, string[]]>([
    ['guests:add', { 'guests:1:name': 'Cy' }, ['Bob', 'Cy', '']],
    ['guests:remove:0', { 'guests:1:name': 'Cy' }, ['Cy']],
    ['guests:up:1', { 'guests:1:name': 'Cy' }, ['Cy', 'Bob']],
    ['guests:down:0', { 'guests:1:name': 'Cy' }, ['Cy', 'Bob']],
    ['guests:down:1', { 'guests:1:name': 'Cy' }, ['Bob', 'Cy']],
    ['guests:remove:0', {}, ['Bob']],
    ['guests:remove:999999999', {}, ['Bob']],
    ['guests:add', { 'guests:1:name': 'b', 'guests:2:name': 'c', 'guests:3:name': 'd' }, ['Bob', 'b', 'c', 'd']],
  ])('%s after %j', async (button, more, expected) => {
    const before = (await stage.send<object[]>({ send: 'GET party/records' })).json.length;
    const { status, text } = await post({ ...one, ...more, [button]: '1', _save: '1', 'action.x': '1' });
    expect(status).toBe(200);
    expect(values(text)).toEqual(expected);
    expect(text).toContain('value="Ann"');
    expect((await stage.send<object[]>({ send: 'GET party/records' })).json).toHaveLength(before);
  });

  test('changes in the edit form of a record, and is kept by one who may not edit', async () => {
    const path = locationOf(await post({ ...one, _save: '1' })).pathname;
    const added = await post({ ...one, 'guests:add': '1' }, html, path);
    expect([added.status, values(added.text)]).toEqual([200, ['Bob', '']]);
    const saved = await post({ ...one, 'guests:1:name': 'Cy', _save: '1' }, html, path);
    expect(saved.status).toBe(303);
    expect((await stage.send({ send: `GET ${path}` })).json).toMatchObject({
      guests: [{ name: 'Bob' }, { name: 'Cy' }],
    });
  });

  describe('as JSON', () => {
    const send = (guests: unknown) =>
      stage.send<Refusal>({ send: `POST ${block}`, json: { host: 'a', guests, _save: true } });

    test.each<[string, unknown, number, string[]]>([
      ['a list', [{ name: 'A', meal: 'veg', child: true, age: 4 }], 201, []],
      ['a wrong entry', [{ name: 'A' }, { age: 4 }], 422, ['guests.1.name']],
      ['null', null, 422, ['guests']],
      ['a text', 'A', 422, ['guests']],
      ['an object', { 0: { name: 'A' } }, 422, ['guests']],
      ['a list of lists', [[{ name: 'A' }]], 422, ['guests']],
      ['a list of texts', ['A'], 422, ['guests']],
      ['10,000 entries', Array.from({ length: 10_000 }, () => ({ name: 'A' })), 422, ['guests']],
      ['objects in fields', [{ name: { a: 1 } }, { name: 'B' }], 422, ['guests.0.name']],
    ])('%s', async (_what, guests, status, wrong) => {
      const sent = await send(guests);
      expect([sent.status, sent.json.error?.details.errors.map(({ path }) => path.join('.')) ?? []]).toEqual([
        status,
        wrong,
      ]);
    });

    test('names of the prototype are names like any other', async () => {
      const body = '{"host":"a","guests":[{"name":"A","constructor":1,"toString":2}],"_save":true}';
      const sent = await stage.send({ send: `POST ${block}`, headers: { 'Content-Type': 'application/json' }, body });
      expect(sent.status).toBe(201);
      const { json } = await stage.send<{ guests: object[] }>({ send: `GET ${locationOf(sent).pathname}` });
      expect(json.guests).toEqual([{ name: 'A', child: false, meal: null, notes: '' }]);
    });

    test('pages show any value that a record was stored with', async () => {
      const values = [[{ name: '<b>' }, { name: { deep: [1] } }], 'text <i>', [1, 'a'], { a: 1 }];
      for (const [at, guests] of values.entries()) {
        await stage.keep('party', `kept-${at}`, { block: 'party', guests });
        const path = `/site/@@apps/party/record/kept-${at}`;
        const shown = await stage.send({ send: `GET ${path}`, accept: html });
        expect(shown.status).toBe(200);
        expect(shown.text).not.toMatch(/<b>|<i>/);
        expect((await stage.send({ send: `GET ${path}/edit`, accept: html })).status).toBe(200);
      }
    });
  });

  test('is an array of objects in OpenAPI', async () => {
    const { json } = await stage.send<{ components: { schemas: Record<string, { properties?: object }> } }>({
      as: 'mona',
      send: 'GET party/openapi.json',
    });
    const items = Object.values(json.components.schemas).find(({ properties }) => properties && 'guests' in properties);
    expect(items?.properties).toMatchObject({
      guests: { type: 'array', minItems: 1, maxItems: 4, items: { required: ['name', 'child', 'meal', 'notes'] } },
    });
  });
});

repeatBrowsers(stage);
