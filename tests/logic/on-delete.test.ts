import { describe, expect, test } from 'vitest';
import { useStage, useThemes } from '../support/hooks';
import type { RowRequest } from '../support/stage';
import { expectAnswer } from '../support/table';

/** Blocks whose `on_delete` leaves `gone-<id>` behind, or does what its name says. */
const blocks: Record<string, string> = {
  'trace.js': 'export const on_delete = ({ app, record }) => { app.create_record(`gone-${record.id}`); };',
  'snake.py': "def on_delete(context):\n    context.app.create_record(id='gone-' + context.record.id)\n",
  'itself.js': `export function on_delete({ app, record }) {
    app.create_record('gone-' + record.id);
    app.delete_record(record);
  }`,
  'other.js': `export function on_delete({ app, record }) {
    app.create_record('gone-' + record.id);
    if (record.other) app.delete_record(record.other);
  }`,
  'broken.js': `export function on_delete({ app, record }) {
    app.create_record('gone-' + record.id);
    throw new Error('cannot be deleted');
  }`,
  'guarded.js': 'export const on_delete = ({ app, record }) => { app.create_record(`gone-${record.id}`); };',
  'guarded.yaml': 'view_permission: [editors]\n',
  'layout.html': '<p>no logic</p>',
};

const options: Record<string, string> = {
  plain: '',
  skipping: ', { on_delete: false }',
  rapido: ', { ondelete: false }',
};

const caller = [
  'const tried = (work) => { try { return work(); } catch (error) { return error.name; } };',
  ...Object.entries(options).map(
    ([name, option]) =>
      `export const ${name} = ({ app, request }) => tried(() => app.delete_record(request.get('id')${option}));`,
  ),
  "export const bare = ({ app, request }) => app.delete_record(request.get('id'));",
  "export const named = ({ app, request }) => app.delete_record({ id: request.get('id'), on_delete: false });",
  `export function seen({ app, request }) {
    const trace = app.get_record('counter') || app.create_record('counter');
    trace.total = 1;
    app.delete_record(request.get('id'));
    return trace.total;
  }`,
].join('\n');

const pythonCaller = ['', ', on_delete=False', ', ondelete=False']
  .map((option, index) => `def way${index}(context):\n    return context.app.delete_record(_id(context)${option})\n`)
  .concat("def _id(context):\n    return context.request.get('id')\n")
  .join('\n');

const elements = (names: string[]) => `elements:\n${names.map((name) => `  ${name}: BASIC\n`).join('')}`;

const themes = useThemes(async (themes) => {
  const folder = 'main/apps/ending/blocks';
  const counting = `export function on_delete({ app }) { app.get_record('counter').total = 2; }`;
  const files = {
    ...blocks,
    'counting.js': counting,
    'caller.js': caller,
    'caller.yaml': elements([...Object.keys(options), 'named', 'bare', 'seen']),
    'pycaller.py': pythonCaller,
    'pycaller.yaml': elements(['way0', 'way1', 'way2']),
  };
  for (const [file, text] of Object.entries(files)) await themes.write(`${folder}/${file}`, text);
  await themes.write(
    'main/apps/elsewhere/blocks/call.js',
    caller.replaceAll('app, request', 'get_app, request').replaceAll('app.delete', "get_app('ending').delete"),
  );
  await themes.write('main/apps/elsewhere/blocks/call.yaml', elements(['plain']));
});
const stage = useStage(() => ({ themesDirectory: themes.directory }));

const there = async (id: string) => (await stage.items('ending', id)) !== null;
const put = (id: string, items: object) => stage.put('ending', id, items);
let number = 0;
/** A new record of the block. */
async function fresh(block: string): Promise<string> {
  number += 1;
  const id = `r${number}`;
  await put(id, { block });
  return id;
}

describe('delete_record() in logic', () => {
  const way = (send: string, block: string, runs: boolean) => ({ send, block, runs });
  test.each([
    way('caller/plain', 'trace', true),
    way('caller/plain', 'snake', true),
    way('caller/plain', 'itself', true),
    way('caller/plain', 'layout', false),
    way('caller/plain', 'nosuchblock', false),
    way('caller/skipping', 'trace', false),
    way('caller/rapido', 'trace', false),
    way('caller/named', 'trace', false),
    way('caller/skipping', 'broken', false),
    way('pycaller/way0', 'trace', true),
    way('pycaller/way0', 'snake', true),
    way('pycaller/way1', 'trace', false),
    way('pycaller/way2', 'trace', false),
  ])('$send of a record of $block: on_delete runs: $runs', async ({ send, block, runs }) => {
    const id = block === 'nosuchblock' ? 'loose' : await fresh(block);
    if (block === 'nosuchblock') await put(id, {});
    const answer = await stage.send({ send: `POST ending/blocks/${send}?id=${id}` });
    expectAnswer(answer, { status: 200, is: true });
    expect([await there(id), await there(`gone-${id}`)]).toEqual([false, runs]);
  });

  test('delete_record() of an unknown record deletes nothing', async () => {
    expect((await stage.send({ send: 'POST ending/blocks/caller/plain?id=none' })).json).toBe(false);
  });

  test.each(['bare', 'plain'])(
    'an on_delete that fails ends the request and stores nothing: caller/%s',
    async (name) => {
      const id = await fresh('broken');
      const answer = await stage.send({ send: `POST ending/blocks/caller/${name}?id=${id}` });
      expectAnswer(answer, { status: 500, error: 'LogicError' });
      expect([await there(id), await there(`gone-${id}`)]).toEqual([true, false]);
    },
  );

  test('changes of on_delete are visible afterwards', async () => {
    const id = await fresh('counting');
    expect((await stage.send({ send: `POST ending/blocks/caller/seen?id=${id}` })).json).toBe(2);
  });

  test.each([
    ['caller/plain', ['UnauthorizedError', 'ForbiddenError', true]],
    ['caller/skipping', [true, true, true]],
  ])('%s is asked of the requester where the block has view_permission: %j', async (send, outcomes) => {
    const given = [];
    for (const as of ['anonymous', 'una', 'eric']) {
      const id = await fresh('guarded');
      given.push((await stage.send({ as, send: `POST ending/blocks/${send}?id=${id}` })).json);
    }
    expect(given).toEqual(outcomes);
  });

  test('delete_record() in another app needs the right to delete there', async () => {
    const id = await fresh('trace');
    const from = `POST elsewhere/blocks/call/plain?id=${id}`;
    expect((await stage.send({ as: 'una', send: from })).json).toBe('ForbiddenError');
    expect(await there(id)).toBe(true);
    expect((await stage.send({ as: 'mona', send: from })).json).toBe(true);
    expect(await there(`gone-${id}`)).toBe(true);
  });
});

describe('on_delete runs once for a record, and not inside itself', () => {
  const ways: [string, (id: string) => RowRequest][] = [
    ['logic', (id) => ({ send: `POST ending/blocks/caller/plain?id=${id}` })],
    ['operation 8', (id) => ({ as: 'mona', send: `DELETE ending/record/${id}` })],
    ['a form', (id) => ({ as: 'mona', send: `POST ending/record/${id}`, accept: 'text/html', form: { _delete: '' } })],
  ];
  test.each(ways)('two records that delete each other, by %s', async (_way, request) => {
    number += 1;
    const [one, two] = [`one${number}`, `two${number}`];
    await put(one, { block: 'other', other: two });
    await put(two, { block: 'other', other: one });
    const { status, text } = await stage.send(request(one));
    expect(status, text).toBeLessThan(400);
    const left = await Promise.all([one, two, `gone-${one}`, `gone-${two}`, `gone-${one}-1`].map(there));
    expect(left).toEqual([false, false, true, true, false]);
  });

  test.each([
    [8, true],
    [9, false],
  ])('a chain of %i records is deleted: %s', async (length, deleted) => {
    const id = (index: number) => `chain${length}-${index}`;
    for (let index = 1; index <= length; index += 1) await put(id(index), { block: 'other', other: id(index + 1) });
    const { status } = await stage.send({ send: `POST ending/blocks/caller/bare?id=${id(1)}` });
    expect(status).toBe(deleted ? 200 : 500);
    expect([await there(id(1)), await there(id(length)), await there(`gone-${id(1)}`)]).toEqual(
      deleted ? [false, false, true] : [true, true, false],
    );
  });
});

describe("the admin panel's delete", () => {
  const route = '/apps/sites/site/apps/ending/records';
  const remove = (id: string, more = '') => ({ as: 'root', send: `DELETE ${route}?id=${id}${more}`, csrf: false });
  test.each([
    ['trace', '', 200, true],
    ['trace', '&on_delete=true', 200, true],
    ['trace', '&on_delete=false', 200, false],
    ['broken', '', 500, false],
    ['broken', '&on_delete=false', 200, false],
    ['guarded', '', 200, true],
    ['trace', '&on_delete=perhaps', 400, false],
  ])('of a record of %s%s: %i, on_delete runs: %s', async (block, more, status, runs) => {
    const id = await fresh(block);
    expectAnswer(await stage.send(remove(id, more)), { status });
    expect([await there(id), await there(`gone-${id}`)]).toEqual([status !== 200, runs]);
  });

  test('an unknown record is 404, and so is a deletion that the panel may not do', async () => {
    expectAnswer(await stage.send(remove('none')), { status: 404, error: 'NotFoundError' });
    const id = await fresh('trace');
    const answer = await stage.send({ as: 'olga', send: `DELETE ${route}?id=${id}`, csrf: false });
    expect([answer.status, await there(id)]).toEqual([403, true]);
  });
});
