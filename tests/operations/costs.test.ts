import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { beforeAll, expect, test, vi } from 'vitest';
import { configured } from '../support/configure';
import { useStage, useThemes } from '../support/hooks';
import { html, type RowRequest } from '../support/stage';

const calls = `
    const names = (app, count) => Array.from({ length: count }, (_, n) => app.get_record('r' + n).get('name')).join();
    export const none = () => 'none';
    export const one = ({ app }) => names(app, 1);
    export const four = ({ app }) => names(app, 4);
    export const find = ({ app }) => app.search("size < 5", { sort: 'size' }).length;
  `;
const elements = 'elements: { none: BASIC, one: BASIC, four: BASIC }\n';

const themes = useThemes({
  'main/apps/costs/settings.yaml': 'acl:\n  rights:\n    reader: [Public, readers, strangers, authors]\n',
  'main/apps/costs/blocks/item.yaml':
    'elements:\n  name: { type: TEXT, index_type: field }\n  size: { type: NUMBER, index_type: field }\n',
  'main/apps/costs/blocks/item.html': '<p>{name}, {size}</p>{_save}',
  'main/apps/costs/blocks/plain.html': '<p>plain</p>',
  'main/apps/costs/blocks/calls.js': calls,
  'main/apps/costs/blocks/calls.yaml': `cache: false\n${elements}`,
  'main/apps/costs/blocks/calls.html': '<p>{none} {one} {four}</p>',
  'main/apps/costs/blocks/kept.js': calls,
  'main/apps/costs/blocks/kept.yaml': elements,
  'main/apps/costs/blocks/kept.html': '<p>{none} {one} {four}</p>',
});
// Without workers, whose looks for jobs would be counted.
const env = configured({ apps: { jobs: { workers: 0 } } });
const stage = useStage(() => ({ themesDirectory: themes.directory, env }));

/** Counts in the host: statements, the most rows of one of them, and messages to the runners. */
interface Counts {
  statements: string[];
  rows: number;
  messages: number;
}

let token: string;

beforeAll(async () => {
  token = await stage.csrf('mona');
  for (let n = 0; n < 40; n += 1) await stage.put('costs', `r${n}`, { block: 'item', name: `name ${n}`, size: n });
  await stage.host.run((strapi) => {
    const counts: Counts = { statements: [], rows: 0, messages: 0 };
    (globalThis as unknown as { counts: Counts }).counts = counts;
    // Changes are published, and the active theme's setting is read, beside the requests.
    const beside = /apps_changes|^(BEGIN|COMMIT);$|strapi_core_store_settings/;
    strapi.db.connection.on('query', ({ sql }: { sql: string }) => {
      if (!beside.test(sql)) counts.statements.push(sql);
    });
    strapi.db.connection.on('query-response', (result: unknown) => {
      if (Array.isArray(result)) counts.rows = Math.max(counts.rows, result.length);
    });
    const { Socket } = process.getBuiltinModule('node:net');
    const { write } = Socket.prototype;
    Socket.prototype.write = function counted(this: Socket, ...args: unknown[]) {
      if (/^messages\b/.test(String(args[0]).slice(0, 9))) counts.messages += 1;
      return Reflect.apply(write, this, args);
    } as typeof write;
  });
  // The runners of a host that has just started are still getting their first messages.
  await vi.waitFor(async () => expect(await messagesOfHalfASecond()).toBe(0), { timeout: 20_000, interval: 1 });
});

async function messagesOfHalfASecond(): Promise<number> {
  await reset();
  await new Promise((resolve) => setTimeout(resolve, 500));
  return stage.host.run(() => (globalThis as unknown as { counts: Counts }).counts.messages);
}

/** What a request costs when the same request has come before. */
async function costOf(row: () => RowRequest): Promise<Counts> {
  for (const _ of [1, 2, 3]) {
    const { status, text } = await stage.send(row());
    if (status >= 400) throw new Error(`${status} ${text}`);
  }
  const first = await costOnce(row);
  const second = await costOnce(row);
  // What is known of an index's state is read again after some time, which may be over just then.
  return first.statements.length < second.statements.length ? first : second;
}

async function costOnce(row: () => RowRequest): Promise<Counts> {
  await reset();
  await stage.send(row());
  return stage.host.run(() => (globalThis as unknown as { counts: Counts }).counts);
}

const reset = () =>
  stage.host.run(() => {
    Object.assign((globalThis as unknown as { counts: Counts }).counts, { rows: 0, messages: 0, statements: [] });
  });

const row =
  (send: string, as = 'anonymous', json?: unknown, accept?: string) =>
  (): RowRequest => ({ send, as, json, accept });
const created = (as: string) => (): RowRequest => ({
  send: `PUT costs/record/${randomUUID()}`,
  as,
  json: { block: 'item', name: 'new', size: 1 },
});
const saved = (fields: () => Record<string, string>) => (): RowRequest => ({
  send: 'POST costs/blocks/item',
  as: 'mona',
  accept: html,
  form: { name: randomUUID(), size: '1', _save: '', ...fields() },
});
const page = { query: 'size < 30', sort_index: 'size', limit: 20 };

/**
 * Statements of a request, and messages to the runners: the first begins a session, each read is answered by one, the last
 * ends the session.
 */
test.each<[string, () => RowRequest, number, number]>([
  ['a record for anonymous', row('GET costs/record/r1'), 2, 0],
  ['a record for a user', row('GET costs/record/r1', 'anna'), 3, 0],
  ['a record for an API token', row('GET costs/record/r1', 'readToken'), 2, 0],
  ['a page of a search', row('POST costs/search', 'anonymous', page), 2, 0],
  // One looks whether a bulk creation that is not visible yet has the id.
  ['creating a record with two indexes', created('mona'), 9, 0],
  ['changing a record', row('PATCH costs/record/r2', 'mona', { size: 3 }), 7, 0],
  ['a number that is incremented', row('PATCH costs/record/r3', 'mona', { $inc: { size: 1 } }), 8, 0],
  ['saving a form of a program', saved(() => ({})), 7, 0],
  // One keeps the answer, in the same transaction.
  ['saving a form of a page', saved(() => ({ _csrf: token })), 8, 0],
  ['a block without logic', row('GET costs/blocks/plain'), 1, 0],
  ['a function without a read', row('GET costs/blocks/calls/none'), 1, 2],
  ['a function with one read', row('GET costs/blocks/calls/one'), 2, 3],
  ['a function with four reads', row('GET costs/blocks/calls/four'), 5, 6],
  ['a page of three elements with logic', row('GET costs/blocks/calls', 'anonymous', undefined, html), 5, 7],
  ['a function whose value is kept', row('GET costs/blocks/kept/four'), 1, 0],
  ['a page that is kept', row('GET costs/blocks/kept', 'anonymous', undefined, html), 1, 0],
])('%s', async (_title, request, statements, messages) => {
  const cost = await costOf(request);
  expect(cost.statements.length, cost.statements.join('\n')).toBe(statements);
  // Messages that are due at once are sent together.
  expect(cost.messages).toBeLessThanOrEqual(messages);
});

test('a list of records holds few of them at a time', async () => {
  const lines = Array.from({ length: 3000 }, (_, n) => JSON.stringify({ path: `many-${n}`, items: { size: n } }));
  const headers = { 'content-type': 'application/x-ndjson' };
  const added = await stage.send({ as: 'mona', send: 'POST costs/records', body: lines.join('\n'), headers });
  expect(added.status, added.text).toBeLessThan(300);
  const { rows } = await costOf(row('GET costs/records', 'mona', undefined, 'application/x-ndjson'));
  expect(rows).toBeLessThanOrEqual(500);
});

/** Bytes that each request leaves behind among the old objects of the host's process (docs/decisions/garbage.md). */
async function leftByEach(request: () => Promise<unknown>): Promise<number> {
  const send = async (count: number) => {
    const lane = async () => {
      for (let n = 0; n < count / 10; n += 1) await request();
    };
    await Promise.all(Array.from({ length: 10 }, lane));
  };
  const oldSize = (collects: boolean) =>
    stage.host.run((_strapi, first) => {
      const v8 = process.getBuiltinModule('node:v8');
      v8.setFlagsFromString('--expose-gc');
      if (first) (process.getBuiltinModule('node:vm').runInNewContext('gc') as () => void)();
      return v8.getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')?.space_used_size ?? 0;
    }, collects);
  await send(500);
  const before = await oldSize(true);
  await send(1_000);
  return ((await oldSize(false)) - before) / 1_000;
}

/** Without these cares it was 10,000 to 30,000; what belongs to the app and what is published are kept for some time. */
const MAX_LEFT = 8_000;

test.each<[string, () => RowRequest]>([
  ['a record', row('GET costs/record/r1')],
  ['a page of a search', row('POST costs/search', 'anonymous', page)],
  ['a function with a read', row('GET costs/blocks/calls/one')],
  ['a page of a block', row('GET costs/blocks/plain', 'anonymous', undefined, html)],
])('%s leaves next to nothing among the old objects', async (_title, request) => {
  const one = request();
  expect(await leftByEach(() => stage.send(one))).toBeLessThan(MAX_LEFT);
});
