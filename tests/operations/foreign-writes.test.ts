import { describe, expect, test } from 'vitest';
import { useStage } from '../support/hooks';

const stage = useStage();

const RECORD = 'plugin::apps.record';
let number = 0;

/** Three new records of the app `search`, which has indexes, with a common author. */
async function books(): Promise<{ author: string; ids: string[]; found(): Promise<string[]> }> {
  number += 1;
  const author = `author${number}`;
  const ids = [1, 2, 3].map((at) => `${author}-${at}`);
  for (const [at, id] of ids.entries()) await stage.put('search', id, { title: author, total: at });
  const found = async () => {
    const json = { query: `title == '${author}'`, with_total: true };
    const answer = await stage.send<{ id: string }[]>({ as: 'mona', send: 'POST search/search', json });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.headers['x-total-count']).toBe(String(answer.json.length));
    return answer.json.map(({ id }) => id);
  };
  expect(await found()).toEqual(ids);
  return { author, ids, found };
}

const check = () =>
  stage.host.run((strapi) => strapi.plugin('apps').service('records').store().check({ repair: false }));

/** The error of `work`, or 'done'. */
type Service = 'documents' | 'query';
type Call = [service: Service, method: string, params: object];

const call = ([service, method, params]: Call) =>
  stage.host.run(
    async (strapi, uid, service, method, params) => {
      const target = service === 'documents' ? strapi.documents(uid as never) : strapi.db.query(uid);
      try {
        await (target as unknown as Record<string, (params: object) => Promise<unknown>>)[method]!(params);
        return 'done';
      } catch (error) {
        return String((error as Error).message);
      }
    },
    RECORD,
    service,
    method,
    params,
  );

const row = async (id: string) =>
  stage.host.run(
    async (strapi, uid, identifier) => {
      const found = await strapi.db.query(uid).findOne({ where: { identifier } });
      return (
        found && { id: found.id as number, documentId: found.documentId as string, version: found.version as number }
      );
    },
    RECORD,
    id,
  );

describe("writes by Strapi's services are refused, with the name of the plugin's service", () => {
  const data = {
    hash: 'h',
    scope: 's',
    site: 'site',
    app: 'search',
    identifier: 'x',
    items: '{"total":1}',
    version: 1,
  };
  const cases: [string, (id: number, documentId: string) => Call][] = [
    ['create', () => ['documents', 'create', { data }]],
    ['create what is not valid', () => ['documents', 'create', { data: {} }]],
    ['update', (_, documentId) => ['documents', 'update', { documentId, data: { items: '{}' } }]],
    ['clone', (_, documentId) => ['documents', 'clone', { documentId }]],
    ['create', () => ['query', 'create', { data }]],
    ['createMany', () => ['query', 'createMany', { data: [data] }]],
    ['update', (id) => ['query', 'update', { where: { id }, data: { items: '{}' } }]],
    ['updateMany', (id) => ['query', 'updateMany', { where: { id }, data: { items: '{}' } }]],
  ];
  test.each(cases)('%s is refused', async (_what, make) => {
    const { ids, found } = await books();
    const before = await row(ids[0]!);
    const outcome = await call(make(before!.id, before!.documentId));
    expect(outcome).toContain("strapi.plugin('apps').service('records')");
    expect(await row(ids[0]!)).toEqual(before);
    expect(await row('x')).toBeNull();
    expect(await found()).toEqual(ids);
  });
});

describe('deleting by them also deletes the index rows', () => {
  const cases: [string, (id: number, documentId: string, ids: string[]) => Call, number[]][] = [
    ['documents().delete', (_, documentId) => ['documents', 'delete', { documentId }], [1, 2]],
    ['query().delete', (id) => ['query', 'delete', { where: { id } }], [1, 2]],
    [
      'query().deleteMany',
      (_, __, ids) => ['query', 'deleteMany', { where: { identifier: { $in: ids.slice(0, 2) } } }],
      [2],
    ],
    ['query().deleteMany of nothing', () => ['query', 'deleteMany', { where: { identifier: 'none' } }], [0, 1, 2]],
  ];
  test.each(cases)('%s deletes the index rows', async (_what, make, left) => {
    const { ids, found } = await books();
    const { id, documentId } = (await row(ids[0]!))!;
    expect(await call(make(id, documentId, ids))).toBe('done');
    expect(await found()).toEqual(left.map((at) => ids[at]));
    expect(await check()).toMatchObject({ wrong: 0, orphanTables: 0 });
  });

  test('deleting in a transaction of the host counts when it commits', async () => {
    const { ids, found } = await books();
    const remove = (fails: boolean) =>
      stage.host.run(
        async (strapi, uid, identifier, fails) => {
          const work = strapi.db.transaction(async () => {
            await strapi.db.query(uid).deleteMany({ where: { identifier } });
            if (fails) throw new Error('undone');
          });
          await work.catch(() => undefined);
        },
        RECORD,
        ids[0]!,
        fails,
      );
    await remove(true);
    expect(await found()).toEqual(ids);
    await remove(false);
    expect(await found()).toEqual(ids.slice(1));
    expect(await check()).toMatchObject({ wrong: 0, orphanTables: 0 });
  });
});

test('an import of Strapi, which disables the hooks, stores records, and the indexes notice', async () => {
  const { ids, found } = await books();
  await stage.host.run(
    async (strapi, uid, identifier) => {
      const { id, ...row } = await strapi.db.query(uid).findOne({ where: { identifier } });
      strapi.db.lifecycles.disable();
      try {
        await strapi.db.query(uid).delete({ where: { id } });
        await strapi.db.query(uid).create({ data: row });
      } finally {
        strapi.db.lifecycles.enable();
      }
    },
    RECORD,
    ids[0]!,
  );
  await expect.poll(found, { interval: 500 }).toEqual([...ids.slice(1), ids[0]]);
  expect(await check()).toMatchObject({ wrong: 0, orphanTables: 0 });
});

test('the service writes records from code', async () => {
  const { author, found, ids } = await books();
  await stage.host.run(async (strapi, author) => {
    const records = strapi.plugin('apps').service('records');
    const { key } = await records.app('site', 'search');
    await records.store().transact(async (unit: { create: CallableFunction; update: CallableFunction }) => {
      await unit.create(key, { id: `${author}-4`, items: { title: author }, creator: null });
      await unit.update(key, `${author}-1`, { set: { title: 'another' } });
    });
  }, author);
  expect(await found()).toEqual([...ids.slice(1), `${author}-4`]);
});

test.each([
  ['delete of what several have', 'delete', 'where', 1],
  ['deleteMany by where', 'deleteMany', 'where', 3],
  ['deleteMany by filters', 'deleteMany', 'filters', 3],
])('%s forgets the deleted records alone', async (_name, method, key, deleted) => {
  const others = await books();
  const { ids, found } = await books();
  const params = { [key]: { identifier: { $in: ids } } };
  expect(await call(['query', method, params])).toBe('done');
  expect(await found()).toHaveLength(ids.length - deleted);
  expect(await others.found()).toEqual(others.ids);
  expect(await check()).toMatchObject({ wrong: 0 });
});
