import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStage, type Stage } from './support/stage';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage?.close());

type Form = Record<string, string | string[]>;
const html = 'text/html';
const block = 'forms/blocks/all';
/** What makes the form valid. */
const needed: Form = { text: 'some text', _save: '' };

const post = (form: Form, accept = html) => stage.send<Refusal>({ send: `POST ${block}`, accept, form });

interface Refusal {
  error: { status: number; name: string; details: { errors: { path: string[]; message: string }[] } };
}

/** Opening tags of an HTML text that name an element. */
const tags = (text: string, name: string) =>
  [...text.matchAll(/<(input|textarea|select|button)\b[^>]*>/g)]
    .map(([tag]) => tag)
    .filter((tag) => tag.includes(`name="${name}"`));

async function stored(form: Form): Promise<Record<string, unknown>> {
  const answer = await post(form);
  expect(answer.status, answer.text).toBe(303);
  const path = new URL(String(answer.headers.location)).pathname;
  const { json } = await stage.send<Record<string, unknown>>({ send: `GET ${path}` });
  return json;
}

describe('storage', () => {
  const cases: [field: string, entered: string | string[] | null, value: unknown][] = [
    ['text', 'a <b> & "c"', 'a <b> & "c"'],
    ['area', 'two\nlines', 'two\nlines'],
    ['area', '', ''],
    ['email', 'ann@example.com', 'ann@example.com'],
    ['url', 'https://example.com/?a=b', 'https://example.com/?a=b'],
    ['hidden', 'something', 'something'],
    ['number', '7', 7],
    ['number', '', null],
    ['when', '2026-03-01T09:30', expect.stringMatching(/^2026-03-01T09:30/)],
    ['day', '2026-03-01', '2026-03-01'],
    ['yes', 'on', true],
    ['yes', null, false],
    ['choice', 'two', 'two'],
    ['many', ['a', 'c'], ['a', 'c']],
    ['many', 'b', ['b']],
    ['radio', '2', 2],
    ['checks', ['x', 'z'], ['x', 'z']],
    ['checks', 'y', ['y']],
    ['checks', null, []],
    ['computed', 'blue', 'blue'],
  ];
  test.each(cases)('%s %j is stored as %j', async (field, entered, value) => {
    const form = entered === null ? needed : { ...needed, [field]: entered };
    const items = await stored(form);
    expect(items[field]).toEqual(value);
    expect(items.block).toBe('all');
  });

  test('only declared inputs are stored', async () => {
    const items = await stored({
      ...needed,
      unknown: 'x',
      intro: 'y',
      id: 'mine',
      __proto__: 'z',
      constructor: 'c',
      _csrf: 'd',
    });
    expect(items.id).toMatch(/^\d+$/);
    for (const name of ['unknown', 'intro', '_save', '_csrf']) expect(items).not.toHaveProperty(name);
    expect(Object.keys(items)).not.toContain('constructor');
  });
});

describe('a form stores only fields that it shows', () => {
  const saved = async (block: string, form: Form): Promise<Record<string, unknown>> => {
    const answer = await stage.send({ send: `POST forms/blocks/${block}`, accept: html, form: { ...form, _save: '' } });
    expect(answer.status, answer.text).toBe(303);
    return (
      await stage.send<Record<string, unknown>>({ send: `GET ${new URL(String(answer.headers.location)).pathname}` })
    ).json;
  };
  const everything = {
    braced: 'by braces',
    liquid: '2',
    bracketed: 'by brackets',
    markup: 'by markup',
    unplaced: '1000',
    commented: 'x',
    quoted: 'x',
    computed: '1000',
  };

  test('by braces, by Liquid and by a form control of its own', async () => {
    const { id, ...items } = await saved('shown', everything);
    expect(items).toEqual({
      block: 'shown',
      braced: 'by braces',
      liquid: 2,
      bracketed: 'by brackets',
      markup: 'by markup',
      computed: 3,
    });
  });

  test('where Liquid reads elements without naming them, every field is shown', async () => {
    expect(await saved('dynamic', { a: 'one', b: 'two' })).toMatchObject({ a: 'one', b: 'two' });
  });

  test('JSON takes items as they are sent', async () => {
    const { json } = await stage.send<{ id: string }>({ send: 'POST forms', json: { unplaced: 1000 } });
    expect((await stage.send({ send: `GET forms/record/${json.id}` })).json).toMatchObject({ unplaced: 1000 });
  });

  test('editing by the form leaves what it does not show', async () => {
    const { json } = await stage.send<{ id: string }>({ send: 'POST forms', json: { block: 'shown', unplaced: 7 } });
    const form = { ...everything, braced: 'changed', _save: '' };
    const answer = await stage.send({ send: `POST forms/record/${json.id}`, accept: html, form });
    expect(answer.status, answer.text).toBe(303);
    const { json: items } = await stage.send({ send: `GET forms/record/${json.id}` });
    expect(items).toMatchObject({ braced: 'changed', unplaced: 7, computed: 3 });
    expect(items).not.toHaveProperty('commented');
  });

  test('a computed element shows its value, and nothing while there is none', async () => {
    const fresh = await stage.send({ send: 'GET forms/blocks/shown', accept: html });
    expect(tags(fresh.text, 'computed')).toEqual([]);
    expect(fresh.text).not.toContain('Total');
    const { id } = await saved('shown', { liquid: '41' });
    for (const page of ['', '/edit']) {
      const { text } = await stage.send({ send: `GET forms/record/${id}${page}`, accept: html });
      expect(tags(text, 'computed')).toEqual([]);
      expect(text).toContain('42');
    }
  });
});

describe('names with dots', () => {
  test('are names like any other', async () => {
    const form = { a: 'one', 'a.b': 'two', 'a-c': ['x.y', 'z'], _save: '' };
    const answer = await stage.send({ send: 'POST forms/blocks/dotted', accept: html, form });
    expect(answer.status, answer.text).toBe(303);
    const path = new URL(String(answer.headers.location)).pathname;
    expect((await stage.send({ send: `GET ${path}` })).json).toMatchObject({
      a: 'one',
      'a.b': 'two',
      'a-c': ['x.y', 'z'],
    });
  });

  test('fields that look like paths pollute nothing', async () => {
    const form = {
      ...needed,
      '__proto__.polluted': 'x',
      'constructor.prototype.polluted': 'x',
      '__proto__[polluted]': 'x',
      'text[0]': 'y',
    };
    expect([303, 400, 422]).toContain((await post(form)).status);
    expect(await stage.host.run(() => ({}) as { polluted?: string })).toEqual({});
    expect(await stage.host.run(() => Object.keys(Object.prototype))).toEqual([]);
  });
});

describe('validation', () => {
  const cases: [field: string, entered: string | string[]][] = [
    ['text', ''],
    ['text', 'x'],
    ['text', 'x'.repeat(21)],
    ['text', 'UPPER CASE'],
    ['email', 'no address'],
    ['email', 'a@b@c'],
    ['url', 'no address'],
    ['url', 'javascript:alert(1)'],
    ['number', 'seven'],
    ['number', '0'],
    ['number', '11'],
    ['number', '1.5'],
    ['number', 'Infinity'],
    ['number', '0x5'],
    ['when', 'yesterday'],
    ['when', '2026-13-01T00:00'],
    ['when', '2026-02-30T00:00'],
    ['day', '01/02/2026'],
    ['day', '2026-02-30'],
    ['day', '2019-12-31'],
    ['day', '2031-01-01'],
    ['choice', 'three'],
    ['many', ['a', 'd']],
    ['radio', '3'],
    ['checks', ['x', 'w']],
    ['checks', 'constructor'],
    ['computed', 'green'],
  ];
  test.each(cases)('%s %j', async (field, entered) => {
    const before = await stage.send<unknown[]>({ send: 'GET forms/records' });
    const form = { ...needed, [field]: entered };
    const json = await post(form, 'application/json');
    expect(json.status).toBe(422);
    expect(json.json.error).toMatchObject({ status: 422, name: 'ValidationError' });
    expect(json.json.error.details.errors).toEqual([{ path: [field], message: expect.stringMatching(/\S/) }]);
    const page = await post(form);
    expect(page.status).toBe(422);
    expect(page.headers['content-type']).toContain('text/html');
    const after = await stage.send<unknown[]>({ send: 'GET forms/records' });
    expect(after.json).toHaveLength(before.json.length);
  });

  test('every wrong field is named, and what was entered is kept and escaped', async () => {
    const form = {
      ...needed,
      text: '<B>"UP"',
      email: 'bad mail',
      number: '99',
      choice: 'two',
      checks: ['x', 'y'],
      day: '2026-03-01',
    };
    const json = await post(form, 'application/json');
    expect(json.json.error.details.errors.map(({ path }) => path[0])).toEqual(['text', 'email', 'number']);
    const { text } = await post(form);
    expect(text).not.toContain('<B>');
    expect(tags(text, 'text')[0]).toContain('value="&lt;B&gt;&quot;UP&quot;"');
    expect(tags(text, 'email')[0]).toContain('value="bad mail"');
    expect(tags(text, 'number')[0]).toContain('value="99"');
    expect(tags(text, 'day')[0]).toContain('value="2026-03-01"');
    expect(text).toMatch(/<option[^>]*value="two"[^>]*selected|<option[^>]*selected[^>]*value="two"/);
    expect(tags(text, 'checks').filter((tag) => tag.includes('checked'))).toHaveLength(2);
    for (const { message } of json.json.error.details.errors) expect(text).toContain(message.replace(/"/g, '&quot;'));
  });
});

describe('rendering', () => {
  test('a form with its token and every input', async () => {
    const { text } = await stage.send({ send: `GET ${block}`, accept: html });
    expect(text).toMatch(/^<!doctype html>/i);
    const form = /<form\b[^>]*>/.exec(text)?.[0] ?? '';
    expect(form).toContain('name="all"');
    expect(form).toContain('class="apps-block"');
    expect(form).toContain(`action="${stage.host.url}/site/@@apps/${block}"`);
    expect(form).toMatch(/method="post"/);
    expect(JSON.parse((/data-apps-settings='([^']*)'/.exec(form)?.[1] ?? '').replaceAll('&quot;', '"'))).toBeTypeOf(
      'object',
    );
    expect(tags(text, '_csrf')[0]).toMatch(/type="hidden"/);

    const types: Record<string, RegExp> = {
      text: /type="text".*required|required.*type="text"/,
      email: /type="email"/,
      url: /type="url"/,
      hidden: /type="hidden"/,
      number: /type="number"/,
      when: /type="datetime-local"/,
      day: /type="date"/,
      yes: /type="checkbox"/,
      radio: /type="radio"/,
      checks: /type="checkbox"/,
    };
    for (const [name, type] of Object.entries(types)) expect(tags(text, name)[0], name).toMatch(type);
    expect(tags(text, 'area')[0]).toMatch(/^<textarea/);
    expect(text).toMatch(/<textarea[^>]*>\n?a default area<\/textarea>/);
    expect(tags(text, 'choice')[0]).toMatch(/^<select/);
    expect(tags(text, 'many')[0]).toMatch(/multiple/);
    expect(tags(text, 'radio')).toHaveLength(2);
    expect(tags(text, 'checks')).toHaveLength(3);
    expect(tags(text, 'hidden')[0]).toContain('value="kept"');
    expect(tags(text, 'email')[0]).toContain('value="default@example.com"');
    expect(tags(text, 'text')[0]).toContain('placeholder="some text"');
    expect(tags(text, 'number')[0]).toMatch(/min="1".*max="10"|max="10".*min="1"/);
    expect(tags(text, '_save')[0]).toMatch(/submit|^<button/);
    for (const shown of ['Your text', 'lower case only', 'Yes?', 'First', 'Second', 'Blue sky', 'Keep it'])
      expect(text).toContain(shown);
  });

  test('BASIC as given, objects escaped, braces that are no elements left alone', async () => {
    const { text } = await stage.send({ send: `GET ${block}`, accept: html });
    expect(text).toContain('<em>as given</em>');
    expect(text.match(/a &lt;title&gt;/g)).toHaveLength(2);
    expect(text).toContain('{ not an element }');
    expect(text).not.toContain('UNDEFINED ELEMENT');
    const note = await stage.send({ send: 'GET open/blocks/note', accept: html });
    expect(note.text).toContain('.note { color: red } .note::after { content: "{}" }');
  });

  test('undeclared elements, in debug mode and in the log', async () => {
    const { text } = await stage.send({ send: 'GET debug/blocks/talk', accept: html });
    expect(text).toContain('UNDEFINED ELEMENT');
    expect(stage.host.output()).toMatch(/undeclared/);
  });

  test('a stored record, for reading and for editing', async () => {
    const made = await post({ ...needed, text: 'a <b>', choice: 'two', yes: '1', number: '3', area: 'l1\nl2' });
    const path = new URL(String(made.headers.location)).pathname;
    const read = await stage.send({ send: `GET ${path}`, accept: html });
    expect(read.status).toBe(200);
    expect(read.text).toContain('a &lt;b&gt;');
    expect(tags(read.text, 'text')).toEqual([]);
    const edit = await stage.send({ send: `GET ${path}/edit`, accept: html });
    expect(tags(edit.text, 'text')[0]).toContain('value="a &lt;b&gt;"');
    expect(tags(edit.text, 'number')[0]).toContain('value="3"');
    expect(tags(edit.text, 'yes')[0]).toContain('checked');
    const saved = await stage.send({
      send: `POST ${path}`,
      accept: html,
      form: { ...needed, text: 'changed', number: '' },
    });
    expect(saved.status).toBe(303);
    expect((await stage.send({ send: `GET ${path}` })).json).toMatchObject({
      text: 'changed',
      number: null,
      yes: false,
    });
  });

  test('a fragment is the form alone', async () => {
    for (const asked of [
      { accept: 'text/html+fragment' },
      { accept: html, headers: { 'x-requested-with': 'XMLHttpRequest' } },
    ]) {
      const { text, headers } = await stage.send({ send: `GET ${block}`, ...asked });
      expect(text.trim()).toMatch(/^<form\b[\s\S]*<\/form>$/);
      expect(headers['content-type']).toContain('text/html');
    }
  });
});
