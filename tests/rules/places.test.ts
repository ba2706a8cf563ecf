import { beforeEach, describe, expect, test } from 'vitest';
import { availableClients } from '../support/databases';
import { useDatabase, useStage, useThemes } from '../support/hooks';
import { html, type RowRequest } from '../support/stage';

const layout =
  '{name} {email} {day} {days} {_save} {_delete}<p>{{ block.places.taken }} of {{ block.places.limit }}, {{ block.places.left }} left, {{ block.places.waiting }} wait, {{ block.places.state }}</p>';

/** A time by the server's clock, some seconds from now. */
const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString().slice(0, 19);

const blocks: Record<string, string> = {
  seat: 'limit: 2\nfull: "Sorry, all {limit} are gone"\nelements: { name: TEXT, _delete: {} }',
  list: 'limit: 1\nwaiting_list: true\nreceipt: { to: email }\nelements: { name: TEXT, email: EMAIL }',
  raised: 'limit: 1\nwaiting_list: true\nelements: { name: TEXT }',
  day: 'elements:\n  name: TEXT\n  day: { type: RADIO, options: [{ value: mon, label: Monday, limit: 1 }, { value: tue, limit: 3 }, wed] }',
  days: 'elements: { days: { type: CHECKBOXES, options: [{ value: 1, limit: 1 }, 2] } }',
  mail: 'elements: { name: TEXT, email: { type: EMAIL, unique: true }, number: { type: NUMBER, unique: true } }',
  slot: 'elements: { at: { type: DATETIME, unique: true }, from: { type: TIME, unique: true } }',
  once: 'limit_per_requester: 1\nelements: { name: TEXT }',
  future: 'opens: "2999-12-01 09:30"\nclosed: "Come back on {opens}"\nelements: { name: TEXT }',
  past: 'opens: 2001-03-01\ncloses: 2001-03-01\nelements: { name: { type: TEXT, pattern: x } }',
  ends: 'elements: { name: TEXT }',
  cached: 'elements: { name: TEXT }',
  plain: 'elements: { name: TEXT, put: ACTION, caught: ACTION, ask: ACTION, twice: ACTION }',
  snake: 'elements: { ask: ACTION }',
};

const logic = `
export function put(context) {
  const record = context.app.create_record(context.request.get('id'));
  record.set_block(context.request.get('to'));
  record.name = 'by logic';
}
export function caught(context) {
  try {
    context.app.create_record('caught').save({}, { block_id: 'seat' });
  } catch {}
  return 'done';
}
export function ask(context) { return context.app.get_block('seat').places; }
export function twice(context) {
  for (const id of ['x', 'y', 'z']) context.app.create_record(id).set_block('list');
  context.app.delete_record('x');
}`;

describe.each(await availableClients())('places on %s', (client) => {
  const themes = useThemes(async (copy) => {
    await copy.write(
      'main/apps/reg/settings.yaml',
      "acl: { rights: { editor: ['*'] } }\nvisitor: true\nmail: { to: ['*@example.org'] }\n",
    );
    for (const [id, text] of Object.entries(blocks)) {
      await copy.write(`main/apps/reg/blocks/${id}.yaml`, `${text}\n`);
      await copy.write(`main/apps/reg/blocks/${id}.html`, layout);
    }
    await copy.write('main/apps/reg/blocks/plain.js', logic);
    await copy.write(
      'main/apps/reg/blocks/snake.py',
      "def ask(context):\n    places = context.app.get_block('seat').places\n    return [places.left, places.state, context.block.places]\n",
    );
  });
  const database = useDatabase(client);
  const stage = useStage(() => ({
    themesDirectory: themes.directory,
    env: { ...database().address.env, TZ: 'UTC' },
  }));
  beforeEach(async () => {
    await stage.send({ send: 'DELETE reg/records', as: 'mona' });
  });

  type Details = { code?: string; errors?: { path: string[]; message: string }[]; record?: number; line?: number };
  const ask = async (send: string, json?: unknown, more: Partial<RowRequest> = {}) => {
    const row = { send, ...(json === undefined ? {} : { json }), ...more };
    const {
      status,
      json: answer,
      text,
      headers,
    } = await stage.send<{ error?: { name: string; details: Details } }>(row);
    const { code, errors = [], record, line } = answer?.error?.details ?? {};
    return { status, code, paths: errors.map(({ path }) => path.join('.')), record, line, text, headers };
  };
  const make = (block: string, id: string, items = {}) => ask(`PUT reg/record/${id}`, { block, name: id, ...items });
  const page = async (block: string) => (await ask(`GET reg/blocks/${block}`, undefined, { accept: html })).text;
  const state = async (id: string) => (await stage.items('reg', id))?._state ?? null;

  test('a limit holds for each way in, and a place that is given back can be taken', async () => {
    expect(await page('seat')).toContain('0 of 2, 2 left, 0 wait, open');
    expect((await make('seat', 'a')).status).toBe(201);
    const bulk = [{ block: 'seat' }, { block: 'seat' }];
    expect(await ask('POST reg/records', bulk)).toMatchObject({ status: 409, code: 'full', record: 2 });
    const ndjson = {
      body: `${JSON.stringify(bulk[0])}\n\n${JSON.stringify(bulk[1])}\n`,
      headers: { 'content-type': 'application/x-ndjson' },
    };
    expect(await ask('POST reg/records', undefined, ndjson)).toMatchObject({
      status: 409,
      code: 'full',
      record: 2,
      line: 3,
    });
    expect(
      (await ask('POST reg/blocks/seat', undefined, { accept: html, form: { name: 'b', _save: '' } })).status,
    ).toBe(303);
    const shut = await ask('POST reg/blocks/seat', undefined, { accept: html, form: { name: 'c', _save: '' } });
    expect(shut.status).toBe(409);
    expect(shut.text).toContain('Sorry, all 2 are gone');
    expect(shut.text).not.toContain('name="name"');
    expect(await page('seat')).toContain('Sorry, all 2 are gone');
    for (const way of [
      ask('POST reg', { block: 'seat' }),
      ask('POST reg/blocks/seat', { name: 'd', _save: '1' }),
      ask('POST reg/blocks/plain/put?id=l&to=seat', {}),
      ask('POST reg/blocks/plain/caught', {}),
    ])
      expect(await way).toMatchObject({ status: 409, code: 'full' });
    expect((await make('plain', 'p')).status).toBe(201);
    expect(await ask('PATCH reg/record/p', { block: 'seat' })).toMatchObject({ status: 409, code: 'full' });
    expect((await ask('PATCH reg/record/a', { name: 'changed' })).status).toBe(200);
    expect((await ask('PATCH reg/record/a', { block: 'plain' })).status).toBe(200);
    expect((await ask('PATCH reg/record/p', { block: 'seat' })).status).toBe(200);
    expect(await page('seat')).toContain('Sorry');
    expect((await ask('DELETE reg/record/p')).status).toBe(200);
    expect(await page('seat')).toContain('1 of 2, 1 left, 0 wait, open');
    const open = { limit: 2, taken: 1, left: 1, waiting: 0, state: 'open' };
    expect(JSON.parse((await ask('GET reg/blocks/plain/ask')).text)).toEqual(open);
    expect(JSON.parse((await ask('GET reg/blocks/snake/ask')).text)).toEqual([1, 'open', null]);
  });

  test('who is over the limit waits, and moves up in order', async () => {
    for (const id of ['a', 'b', 'c', 'd'])
      expect((await make('list', id, { email: `${id}@example.org` })).status).toBe(201);
    expect(await Promise.all(['a', 'b', 'c', 'd'].map(state))).toEqual([null, 'waiting', 'waiting', 'waiting']);
    const shown = await page('list');
    expect(shown).toContain('goes on the waiting list');
    expect(shown).toContain('1 of 1, 0 left, 3 wait, full');
    for (const sent of [
      ask('POST reg', { block: 'list', _state: null }),
      ask('PATCH reg/record/b', { _state: 'taken' }),
      ask('POST reg/blocks/list', { _state: 'waiting', _save: '1' }),
    ])
      expect(await sent).toMatchObject({ status: 422, paths: ['_state'] });
    expect((await ask('PATCH reg/record/c', { name: 'changed' })).status).toBe(200);
    expect((await ask('DELETE reg/record/b')).status).toBe(200);
    expect(await Promise.all(['c', 'd'].map(state))).toEqual(['waiting', 'waiting']);
    expect((await ask('DELETE reg/record/a')).status).toBe(200);
    expect(await Promise.all(['c', 'd'].map(state))).toEqual([null, 'waiting']);
    expect((await ask('PATCH reg/record/c', { block: 'plain' })).status).toBe(200);
    expect(await state('d')).toBeNull();
    const mails = await stage.host.run((strapi) => strapi.db.query('plugin::apps.mail').findMany({ orderBy: 'id' }));
    const free = mails.filter(({ subject }: { subject: string }) => subject.startsWith('You have a place'));
    expect(free.map(({ recipients }: { recipients: string }) => recipients)).toEqual([
      'c@example.org',
      'd@example.org',
    ]);
    expect(mails).toHaveLength(6);
    await stage.send({ send: 'DELETE reg/records', as: 'mona' });
    expect((await ask('POST reg/blocks/plain/twice', {})).status).toBe(200);
    expect(await Promise.all(['y', 'z'].map(state))).toEqual([null, 'waiting']);
  });

  test('who waits and is moved into another block has no place there, or that of the new block', async () => {
    for (const id of ['a', 'b', 'c', 'd', 'e']) await make('list', id);
    await make('raised', 'r');
    expect(await Promise.all(['c', 'd', 'e'].map(state))).toEqual(['waiting', 'waiting', 'waiting']);
    for (const [id, block] of Object.entries({ c: 'plain', d: 'seat', e: 'raised' }))
      expect(await ask(`PATCH reg/record/${id}`, { block }), block).toMatchObject({ status: 200 });
    expect(await Promise.all(['b', 'c', 'd', 'e'].map(state))).toEqual(['waiting', null, null, 'waiting']);
    expect(await page('list')).toContain('1 of 1, 0 left, 1 wait, full');
    expect(await page('seat')).toContain('1 of 2, 1 left, 0 wait, open');
    expect(await page('raised')).toContain('1 of 1, 0 left, 1 wait, full');
    expect(await ask('PATCH reg/record/b', { block: 'plain', _state: 'waiting' })).toMatchObject({ status: 200 });
    expect(await state('b')).toBeNull();
  });

  test('a larger limit moves up those who wait', async () => {
    for (const id of ['a', 'b', 'c']) await make('raised', id);
    expect(await state('b')).toBe('waiting');
    await themes.write('main/apps/reg/blocks/raised.yaml', 'limit: 2\nwaiting_list: true\nelements: { name: TEXT }\n');
    await expect.poll(() => state('b'), { timeout: 15_000 }).toBeNull();
    expect(await state('c')).toBe('waiting');
  });

  test('an option has a limit of its own', async () => {
    expect(await page('day')).toContain('Monday (1 left)');
    expect((await make('day', 'a', { day: 'mon' })).status).toBe(201);
    expect(await make('day', 'b', { day: 'mon' })).toMatchObject({ status: 422, paths: ['day'] });
    const form = await page('day');
    expect(form).toMatch(/value="mon"[^>]* disabled[^>]*> <label[^>]*>Monday \(full\)/);
    expect(form).toContain('tue (3 left)');
    const sent = await ask('POST reg/blocks/day', undefined, {
      accept: html,
      form: { name: 'kept', day: 'mon', _save: '' },
    });
    expect(sent.status).toBe(422);
    expect(sent.text).toContain('There is no place left: Monday.');
    expect(sent.text).toContain('value="kept"');
    const edit = await ask('GET reg/record/a/edit', undefined, { accept: html });
    expect(edit.text).toMatch(/value="mon" checked/);
    expect((await ask('PATCH reg/record/a', { day: 'tue' })).status).toBe(200);
    expect((await make('day', 'b', { day: 'mon' })).status).toBe(201);
    expect(await ask('PATCH reg/record/a', { day: 'mon' })).toMatchObject({ status: 422, paths: ['day'] });
    expect((await make('days', 'c', { days: [1, 2] })).status).toBe(201);
    expect(await make('days', 'd', { days: [2, 1] })).toMatchObject({ status: 422, paths: ['days'] });
    expect((await make('days', 'd', { days: [2] })).status).toBe(201);
  });

  test('a unique value is stored once', async () => {
    expect((await make('mail', 'a', { email: 'Anna@Example.org', number: 1 })).status).toBe(201);
    for (const email of ['anna@example.org', ' ANNA@example.ORG '])
      expect(await make('mail', 'b', { email })).toMatchObject({ status: 422, paths: ['email'] });
    expect(await make('mail', 'b', { email: 'anna@example.org', number: 1 })).toMatchObject({
      paths: ['email', 'number'],
    });
    const twice = [
      { block: 'mail', number: 7 },
      { block: 'mail', number: 7 },
    ];
    expect(await ask('POST reg/records', twice)).toMatchObject({ status: 422, paths: ['number'], record: 2 });
    for (const id of ['c', 'd']) expect((await make('mail', id, { email: '', number: null })).status).toBe(201);
    expect((await ask('PATCH reg/record/a', { email: 'ANNA@example.org' })).status).toBe(200);
    expect(await ask('PATCH reg/record/c', { email: 'anna@example.org' })).toMatchObject({
      status: 422,
      paths: ['email'],
    });
    const form = { name: 'kept', email: 'anna@example.org', _save: '' };
    const again = await ask('POST reg/blocks/mail', undefined, { accept: html, form });
    expect(again).toMatchObject({ status: 422 });
    expect(again.text).toContain('This is taken already.');
    expect(again.text).toContain('value="kept"');
  });

  test('a unique time is stored once, however it is written', async () => {
    expect((await make('slot', 'a', { at: '2026-12-01T09:30', from: '09:30' })).status).toBe(201);
    for (const at of ['2026-12-01T09:30:00', '2026-12-01T09:30:00.0', '2026-12-01T09:30Z', '2026-12-01T10:30+01:00'])
      expect(await make('slot', 'b', { at }), at).toMatchObject({ status: 422, paths: ['at'] });
    expect(await make('slot', 'b', { from: '09:30:00' })).toMatchObject({ status: 422, paths: ['from'] });
    expect((await make('slot', 'b', { at: '2026-12-01T09:30:01', from: '09:30:01' })).status).toBe(201);
    expect((await ask('PATCH reg/record/a', { at: '2026-12-01T09:30:00' })).status).toBe(200);
    expect(await ask('PATCH reg/record/b', { at: '2026-12-01T09:30' })).toMatchObject({ status: 422, paths: ['at'] });
  });

  test('each requester has a limit: a user, and a visitor by the cookie', async () => {
    const as = (who: string, cookie = '') =>
      ask('POST reg', { block: 'once' }, { as: who, ...(cookie && { headers: { cookie } }) });
    expect((await as('anna')).status).toBe(201);
    expect(await as('anna')).toMatchObject({ status: 409, code: 'once' });
    expect((await as('abel')).status).toBe(201);
    const first = await as('anonymous');
    expect(first).toMatchObject({ status: 422, paths: [''] });
    const cookies = async () => {
      const { headers } = await ask('GET reg/blocks/once', undefined, { accept: html });
      return String([headers['set-cookie']].flat().find((one) => one?.startsWith('apps_visitor='))).split(';')[0];
    };
    const [one, other] = [await cookies(), await cookies()];
    expect((await as('anonymous', one)).status).toBe(201);
    expect(await as('anonymous', one)).toMatchObject({ status: 409, code: 'once' });
    expect(await as('anonymous', `${one}x`)).toMatchObject({ status: 422 });
    expect((await as('anonymous', other)).status).toBe(201);
  });

  // By the clock of the process and the file of the block: the database has no part in it.
  if (client !== 'sqlite') return;
  test('a block opens and closes', async () => {
    expect(await page('future')).toContain('Come back on December 1, 2999, 9:30 AM');
    expect(await make('future', 'a')).toMatchObject({ status: 409, code: 'not_open' });
    expect(await page('past')).toContain('This has closed: March 1, 2001.');
    expect(await make('past', 'a')).toMatchObject({ status: 409, code: 'closed' });
    const soon = inSeconds(12);
    const ends = `closes: "${soon}"\nclosed: It is over\nelements: { name: TEXT }\n`;
    for (const [block, more] of Object.entries({ ends: '', cached: 'cache: 600\n' })) {
      await themes.write(`main/apps/reg/blocks/${block}.yaml`, more + ends);
      await expect.poll(async () => (await ask(`GET reg/blocks/${block}`)).text).toContain(soon);
      expect(await page(block)).toContain('name="name"');
    }
    for (const block of ['ends', 'cached']) {
      await expect.poll(() => page(block), { timeout: 30_000, interval: 300 }).toContain('It is over');
      expect(await make(block, 'a')).toMatchObject({ status: 409, code: 'closed' });
    }
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(`${soon}Z`));
    await stage.keep('reg', 'old', { block: 'ends', name: 'old' });
    expect((await ask('PATCH reg/record/old', { name: 'new' })).status).toBe(200);
  });
});
