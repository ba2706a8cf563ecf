import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { IndexDeclarations } from '../indexes/types';
import { createRecordStore } from './store';
import { availableClients, createTestDatabase, hostOf, type TestDatabase } from './testing/databases';
import type { NewRecord, RecordStore } from './types';

const limits = { attempts: 10 };
const declared: IndexDeclarations = new Map([
  ['author', 'field'],
  ['total', 'field'],
  ['tags', 'keyword'],
  ['body', 'text'],
]);
const none: IndexDeclarations = new Map();

async function* from(records: NewRecord[]): AsyncIterable<NewRecord> {
  yield* records;
}

const clients = await availableClients();

describe.each(clients)('record store on %s', (client) => {
  let database: TestDatabase;
  let store: RecordStore;
  let apps = 0;
  const newApp = () => ({ site: 'site', app: `app${++apps}` });
  const create = (
    key: ReturnType<typeof newApp>,
    id: string | undefined,
    items: NewRecord['items'],
    whenTaken?: 'number',
  ) => store.transact((unit) => unit.create(key, { id, items, creator: 'user:1', whenTaken }));

  beforeAll(async () => {
    database = await createTestDatabase(client);
    store = createRecordStore({ database: database.host, limits });
  }, 30_000);
  afterAll(async () => {
    await store.destroy();
    await database.destroy();
  });

  test('stores items unchanged, without id', async () => {
    const key = newApp();
    const items = JSON.parse(
      '{"id":"x","__proto__":{"a":1},"constructor":2,"zero":"a\\u0000b","big":1e300,"half":"\\ud800","n":null,"l":[1,{"é":"😀"}]}',
    );
    await create(key, 'a', items);
    const record = await store.get(key, 'a');
    expect(JSON.stringify(record?.items)).toBe(
      '{"__proto__":{"a":1},"constructor":2,"zero":"a\\u0000b","big":1e+300,"half":"\\ud800","n":null,"l":[1,{"é":"😀"}]}',
    );
    expect(record).toMatchObject({ id: 'a', creator: 'user:1', version: 1 });
  });

  test('compares ids byte by byte, within an app', async () => {
    const ids = ['a', 'A', 'á', 'a ', ' a', 'a/b', '/a', 'ß', 'ss', '😀', '%', "'", 'x'.repeat(255)];
    const [key, other] = [newApp(), newApp()];
    for (const id of ids) await create(key, id, { id, own: id });
    for (const id of ids) expect((await store.get(key, id))?.items.own).toBe(id);
    expect(await store.get(other, 'a')).toBeNull();
    expect(await store.get({ ...key, app: key.app.toUpperCase() }, 'a')).toBeNull();
    for (const id of ids) {
      const { records } = await store.search(key, none, { query: 'id == wanted', names: { wanted: id } });
      expect(records.map((record) => record.id)).toEqual([id]);
    }
  });

  test.each(['', 'a\nb', '\u0000', '\u009f', '\ud800', 'x'.repeat(256)])('refuses the id %j', async (id) => {
    await expect(store.get(newApp(), id)).rejects.toMatchObject({ name: 'BadRequestError' });
    await expect(create(newApp(), id, {})).rejects.toMatchObject({ name: 'BadRequestError' });
  });

  test('generates digits, refuses taken ids or numbers them', async () => {
    const key = newApp();
    const generated = [await create(key, undefined, {}), await create(key, undefined, {})];
    for (const { id } of generated) expect([/^\d+$/.test(id), Number.isSafeInteger(Number(id))]).toEqual([true, true]);
    await create(key, 'a', {});
    await expect(create(key, 'a', {})).rejects.toMatchObject({ name: 'ConflictError' });
    expect((await create(key, 'a', {}, 'number')).id).toBe('a-1');
    expect((await create(key, 'a', {}, 'number')).id).toBe('a-2');
    const long = 'é'.repeat(255);
    await create(key, long, {});
    expect((await create(key, long, {}, 'number')).id).toBe(`${'é'.repeat(253)}-1`);
    const many = await store.transact(async (unit) => {
      const made = [];
      for (let at = 0; at < 15; at++)
        made.push((await unit.create(key, { id: 'm', whenTaken: 'number', items: {}, creator: null })).id);
      return made;
    });
    expect(many).toEqual(['m', ...Array.from({ length: 14 }, (_, at) => `m-${at + 1}`)]);
  });

  test('merges changes, unsets and increments', async () => {
    const key = newApp();
    await create(key, 'a', { a: 1, b: 2, s: 'x' });
    const change = (value: object) => store.transact((unit) => unit.update(key, 'a', value));
    const changed = await change({ set: { b: null, c: [1] }, unset: ['s'], inc: { a: 2, total: 5 } });
    expect(changed).toMatchObject({ version: 2, items: { a: 3, b: null, c: [1], total: 5 } });
    expect(await store.get(key, 'a')).toMatchObject({ version: 2, items: { a: 3, b: null, c: [1], total: 5 } });
    await change({ inc: { b: 1 } });
    expect((await store.get(key, 'a'))?.items.b).toBe(1);
    await expect(change({ inc: { c: 1 } })).rejects.toMatchObject({ name: 'BadRequestError' });
    await expect(store.transact((unit) => unit.update(key, 'none', {}))).rejects.toMatchObject({
      name: 'NotFoundError',
    });
  });

  test('a record has at most 10,000 items, after any kind of write', async () => {
    const key = newApp();
    const items = (count: number, name = 'a') =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`${name}${at}`, at]));
    const refused = { name: 'BadRequestError', message: expect.stringMatching(/at most 10000 items/) };
    const change = (value: object) => store.transact((unit) => unit.update(key, 'a', value));
    await create(key, 'a', { ...items(10_000), id: 'a' });
    await change({ set: items(10_000), inc: { a1: 1 } });
    await expect(create(key, 'b', items(10_001))).rejects.toMatchObject(refused);
    await expect(change({ set: { more: 1 } })).rejects.toMatchObject(refused);
    await expect(change({ inc: { more: 1 } })).rejects.toMatchObject(refused);
    async function* bulk() {
      yield { id: 'c', items: items(10_001), creator: null };
    }
    await expect(store.createMany(key, bulk())).rejects.toMatchObject(refused);
    expect(await store.count(key, declared)).toBe(1);
  });

  test('a unit sees its own writes in every read, other units only after its commit', async () => {
    const key = newApp();
    await create(key, 'old', { total: 1, author: 'a' });
    await store.transact(async (unit) => {
      await unit.create(key, { id: 'new', items: { total: 5, author: 'a' }, creator: null });
      await unit.update(key, 'old', { set: { total: 9 } });
      expect((await unit.get(key, 'old'))?.items.total).toBe(9);
      const found = await unit.search(key, declared, {
        query: "author == 'a' and total > 2",
        sortIndex: 'total',
        reverse: true,
      });
      expect(found.records.map((record) => record.id)).toEqual(['old', 'new']);
      expect((await unit.page(key, {})).map((record) => record.id)).toEqual(['old', 'new']);
      if (client !== 'sqlite') expect((await store.get(key, 'old'))?.items.total).toBe(1);
      expect(await unit.delete(key, 'old')).toBe(true);
      expect(await unit.delete(key, 'old')).toBe(false);
      expect(await unit.count(key, declared, 'total > 0')).toBe(1);
      expect(await unit.count(key, declared)).toBe(1);
      expect((await unit.rename(key, 'new', 'renamed', 'refuse')).id).toBe('renamed');
      await unit.update(key, 'renamed', { set: { body: 'Hello world' } });
    });
    const { records } = await store.search(key, declared, { query: "'hello' in body" });
    expect(records.map(({ id, items, version }) => ({ id, items, version }))).toEqual([
      { id: 'renamed', items: { total: 5, author: 'a', body: 'Hello world' }, version: 1 },
    ]);
    expect(await store.get(key, 'old')).toBeNull();
  });

  test('an error rolls back everything and runs no effect; a commit runs them in order', async () => {
    const key = newApp();
    const effects: string[] = [];
    const attempt = store.transact(async (unit) => {
      unit.afterCommit(() => void effects.push('never'));
      await unit.create(key, { id: 'a', items: {}, creator: null });
      await unit.inTransaction(async () => {});
      throw new Error('stop');
    });
    await expect(attempt).rejects.toThrow('stop');
    expect(await store.get(key, 'a')).toBeNull();
    await store.transact(async (unit) => {
      unit.afterCommit(async () => void effects.push('one'));
      unit.afterCommit(() => {
        effects.push('two');
        throw new Error('contained');
      });
      unit.afterCommit(() => void effects.push('three'));
      await unit.create(key, { id: 'a', items: {}, creator: null });
    });
    expect(effects).toEqual(['one', 'two', 'three']);
  });

  test('host writes join the transaction; only those of failed work are undone', async () => {
    const key = newApp();
    await database.knex.schema.createTable(`host_${key.app}`, (table) => void table.string('name'));
    const insert = async (name: string) => {
      const trx = await database.host.current();
      await (trx as NonNullable<typeof trx>)(`host_${key.app}`).insert({ name });
    };
    await store.transact(async (unit) => {
      await unit.create(key, { id: 'a', items: {}, creator: null });
      await unit.inTransaction(() => insert('kept'));
      await expect(
        unit.inTransaction(async () => {
          await insert('undone');
          throw new Error('contained');
        }),
      ).rejects.toThrow('contained');
      await unit.inTransaction(async () => {
        await insert('nested');
        expect(await unit.inTransaction(async () => unit.count(key, declared))).toBe(1);
      });
    });
    expect(await database.knex(`host_${key.app}`).pluck('name')).toEqual(['kept', 'nested']);
    await expect(
      store.transact(async (unit) => {
        await unit.inTransaction(() => insert('lost'));
        throw new Error('stop');
      }),
    ).rejects.toThrow('stop');
    expect(await database.knex(`host_${key.app}`).pluck('name')).toEqual(['kept', 'nested']);
  });

  test('no transaction stays open while a unit waits; its changes are repeated', async () => {
    const key = newApp();
    const table = `again_${key.app}`;
    await database.knex.schema.createTable(table, (columns) => void columns.string('name'));
    let runs = 0;
    const insert = async () => {
      runs += 1;
      const trx = await database.host.current();
      await (trx as NonNullable<typeof trx>)(table).insert({ name: 'kept' });
    };
    const names = () => database.knex(table).pluck('name');
    await store.transact(async (unit) => {
      // The first search of an app builds its indexes, and the unit runs again.
      runs = 0;
      await unit.create(key, { id: 'a', items: { total: 1 }, creator: null });
      await unit.inTransaction(insert);
      expect(await unit.count(key, declared, 'total == 1')).toBe(1);
      await new Promise((done) => setTimeout(done, 100));
      // On SQLite this would wait for an open transaction.
      await create(key, 'other', { total: 1 });
      expect([runs, await names(), await store.get(key, 'a')]).toEqual([1, [], null]);
      await unit.update(key, 'a', { inc: { total: 1 } });
      expect(await unit.count(key, declared, 'total > 0')).toBe(2);
      expect(runs).toBe(2);
      await new Promise((done) => setTimeout(done, 100));
      expect(await names()).toEqual([]);
      expect(await unit.delete(key, 'a')).toBe(true);
      expect(await unit.count(key, declared)).toBe(1);
      await unit.create(key, { id: 'b', items: {}, creator: null });
      await new Promise((done) => setTimeout(done, 100));
    });
    expect([await names(), (await store.page(key, {})).map(({ id }) => id)]).toEqual([['kept'], ['other', 'b']]);
    expect(runs).toBe(3);
  });

  test('a transaction that was opened for failing work ends at once', async () => {
    const key = newApp();
    await store.transact(async (unit) => {
      await unit.create(key, { id: 'a', items: {}, creator: null });
      await expect(unit.inTransaction(() => Promise.reject(new Error('contained')))).rejects.toThrow('contained');
      expect(database.knex.client.pool.numUsed()).toBe(0);
      await create(key, 'other', {});
    });
    expect(await store.count(key, declared)).toBe(2);
  });

  test('reads alongside a unit join its transaction once it is open, and only then', async () => {
    const key = newApp();
    await create(key, 'a', { n: 1 });
    const current = async () => (await database.host.current()) !== undefined;
    await store.transact(async (unit) => {
      expect(await unit.alongside(current)).toBe(false);
      await unit.update(key, 'a', { set: { n: 2 } });
      expect(await unit.alongside(current)).toBe(false);
      await unit.inTransaction(async () => expect(await current()).toBe(true));
      expect(await unit.alongside(current)).toBe(true);
      expect(await current()).toBe(false);
      await expect(unit.alongside(() => Promise.reject(new Error('contained')))).rejects.toThrow('contained');
    });
    expect((await store.get(key, 'a'))?.items).toEqual({ n: 2 });
  });

  test('host writes run again after a deadlock', async () => {
    if (client === 'sqlite') return; // one writer at a time: there are none
    const key = newApp();
    const table = `locked_${key.app}`;
    await database.knex.schema.createTable(table, (columns) => {
      columns.integer('id').primary();
      columns.integer('n');
    });
    await database.knex(table).insert([1, 2].map((id) => ({ id, n: 0 })));
    // The first write of an app blocks others until its commit.
    await create(key, 'first', {});
    let arrived = 0;
    let runs = 0;
    const add = async (id: number) => {
      const trx = (await database.host.current()) as NonNullable<Awaited<ReturnType<typeof database.host.current>>>;
      await trx(table).where({ id }).increment('n', 1);
    };
    const crosswise = (first: number, second: number) =>
      store.transact(async (unit) => {
        runs += 1;
        await unit.create(key, { items: { first }, creator: null });
        await unit.inTransaction(() => add(first));
        arrived += 1;
        for (let time = 0; arrived < 2 && time < 200; time++) await new Promise((resolve) => setTimeout(resolve, 10));
        await unit.inTransaction(() => add(second));
      });
    await Promise.all([crosswise(1, 2), crosswise(2, 1)]);
    expect(runs).toBeGreaterThan(2);
    expect(await database.knex(table).orderBy('id').pluck('n')).toEqual([2, 2]);
    expect(await store.count(key, declared)).toBe(3);
  }, 30_000);

  test('fifty concurrent increments of one record all count, read-modify-write too', async () => {
    const key = newApp();
    await create(key, 'a', { total: 0, seen: 0 });
    await Promise.all(
      Array.from({ length: 50 }, () =>
        store.transact(async (unit) => {
          const record = await unit.get(key, 'a');
          await new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
          await unit.update(key, 'a', {
            set: { seen: (record?.items.seen as number) + 1 },
            inc: { total: 1 },
          });
        }),
      ),
    );
    expect((await store.get(key, 'a'))?.items).toEqual({ total: 50, seen: 50 });
    expect(await store.count(key, declared, 'total == 50')).toBe(1);
  }, 20_000);

  test('two stores on one database do not lose each other’s writes', async () => {
    const key = newApp();
    const other = createRecordStore({ database: hostOf(database.knex, client), limits: { attempts: 50 } });
    const mine = createRecordStore({ database: database.host, limits: { attempts: 50 } });
    await create(key, 'a', { total: 0 });
    await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        (at % 2 ? other : mine).transact((unit) => unit.update(key, 'a', { inc: { total: 1 } })),
      ),
    );
    expect((await store.get(key, 'a'))?.items.total).toBe(20);
  }, 20_000);

  test('a change of a record that was only read is a collision', async () => {
    const key = newApp();
    await create(key, 'a', { open: true });
    let runs = 0;
    await store.transact(async (unit) => {
      const open = (await unit.get(key, 'a'))?.items.open;
      if (++runs === 1) await store.transact((second) => second.update(key, 'a', { set: { open: false } }));
      if (open) await unit.create(key, { id: 'b', items: {}, creator: null });
    });
    expect([runs, await store.get(key, 'b')]).toEqual([2, null]);
  });

  test('gives up with a conflict after the attempts', async () => {
    const key = newApp();
    await create(key, 'a', { n: 0 });
    let runs = 0;
    // After more attempts the record would be locked, and the rival below would wait for it.
    const impatient = createRecordStore({ database: database.host, limits: { attempts: 3 } });
    const result = impatient.transact(async (unit) => {
      await unit.get(key, 'a');
      runs++;
      await database.knex('apps_records').where({ identifier: 'a', app: key.app }).increment('version', 1);
      await unit.update(key, 'a', { inc: { n: 1 } });
    });
    await expect(result).rejects.toMatchObject({ name: 'ConflictError', status: 409 });
    expect(runs).toBe(3);
  });

  test('concurrent creations of one id: one wins', async () => {
    const key = newApp();
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => create(key, 'same', {})));
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
    const numbered = await Promise.all(Array.from({ length: 5 }, () => create(key, 'same', {}, 'number')));
    expect(numbered.map((record) => record.id).sort()).toEqual(['same-1', 'same-2', 'same-3', 'same-4', 'same-5']);
  });

  test('creates many, all or nothing, and streams them in order', async () => {
    const key = newApp();
    const records = Array.from(
      { length: 1203 },
      (_, at): NewRecord => ({ items: { at, total: at % 7 }, creator: null }),
    );
    expect(await store.count(key, declared, 'total == 3')).toBe(0);
    expect(await store.createMany(key, from(records))).toBe(1203);
    const seen: unknown[] = [];
    for await (const batch of store.stream(key)) seen.push(...batch.map((record) => record.items.at));
    expect(seen).toEqual(records.map((_, at) => at));
    expect(await store.count(key, declared, 'total == 3')).toBe(172);
    const taken = [
      { items: {}, creator: null },
      { id: 'x', items: {}, creator: null },
      { id: 'x', items: {}, creator: null },
    ];
    await expect(store.createMany(key, from(taken))).rejects.toMatchObject({
      name: 'ConflictError',
      details: { id: 'x' },
    });
    const late = [
      ...records,
      { id: seen.length ? (await store.page(key, { limit: 1 }))[0]?.id : '', items: {}, creator: null },
    ];
    await expect(store.createMany(key, from(late))).rejects.toMatchObject({ name: 'ConflictError' });
    expect(await store.count(key, declared)).toBe(1203);
    const page = await store.page(key, { limit: 2, offset: 1, after: (await store.page(key, { limit: 1 }))[0]?.seq });
    expect(page.map((record) => record.items.at)).toEqual([2, 3]);
    expect(await store.page(key, { after: Number.MAX_SAFE_INTEGER })).toEqual([]);
    const limited: unknown[] = [];
    for await (const batch of store.stream(key, { limit: 501, offset: 600 }))
      limited.push(...batch.map((record) => record.items.at));
    expect([limited.length, limited[0], limited.at(-1)]).toEqual([501, 600, 1100]);
  }, 20_000);

  test('many large records are never all in memory: a listing continues, a search is refused with advice', async () => {
    const key = newApp();
    const large: NewRecord[] = Array.from({ length: 24 }, (_, at) => ({
      id: `r${at}`,
      items: { total: at, body: `w${at} ${'x'.repeat(100_000)}`, note: '-'.repeat(800_000 + at) },
      creator: null,
    }));
    const summary = ({ id, items }: { id: string; items: NewRecord['items'] }) => [id, String(items.note).length];
    const wanted = large.map((_, at) => [`r${at}`, 800_000 + at]);
    expect(await store.createMany(key, from(large))).toBe(24);
    const batches: unknown[][] = [];
    for await (const batch of store.stream(key)) batches.push(batch.map(summary));
    expect(batches.flat()).toEqual(wanted);
    expect(Math.max(...batches.map((batch) => batch.length))).toBeLessThan(20);
    const found = async (limit: number) =>
      (await store.search(key, declared, { query: 'total >= 0', sortIndex: 'total', limit })).records.map(summary);
    expect(await found(3)).toEqual(wanted.slice(0, 3));
    const tooLarge = { name: 'PayloadTooLargeError', message: expect.stringContaining('ask for fewer') };
    await expect(found(10_000)).rejects.toMatchObject(tooLarge);
    await expect(store.page(key, { limit: 24 })).rejects.toMatchObject(tooLarge);
    await expect(store.transact((unit) => unit.search(key, none, { limit: 24 }))).rejects.toMatchObject(tooLarge);
    expect(await store.count(key, declared, '"w2*" in body')).toBe(5);
    await store.clear(key);
  }, 30_000);

  test('clearing many records does not block others, and keeps records that they create meanwhile', async () => {
    const key = newApp();
    const many = async function* () {
      for (let total = 0; total < 25_001; total++) yield { items: { total }, creator: null };
    };
    await store.createMany(key, many());
    const count = () => store.count(key, declared, 'total >= 0');
    // On a busy machine the indexes are still being built: 503 until they are.
    await expect.poll(() => count().catch(() => null), { timeout: 30_000 }).toBe(25_001);
    let cleared = false;
    const clearing = store.clear(key).finally(() => {
      cleared = true;
    });
    const made: string[] = [];
    let counting: Promise<number> | undefined;
    while (!cleared) {
      made.push(`new${made.length}`);
      await create(key, made.at(-1) as string, { total: 1 });
      counting ??= count();
      // Like requests: SQLite's driver alone would never yield the thread.
      await new Promise((resolve) => setImmediate(resolve));
    }
    await clearing;
    expect(await counting).toBeGreaterThan(0);
    // In one transaction, the database's one connection would have been free for the first at most.
    expect(made.length).toBeGreaterThan(1);
    const { records } = await store.search(key, declared, { query: 'total >= 0' });
    // Some may have been created before the clearing began.
    expect(records.map(({ id }) => id)).toEqual(made.slice(made.length - records.length));
    expect(records.length).toBeGreaterThan(0);
    expect(await store.check({ repair: false })).toMatchObject({ wrong: 0 });
  }, 60_000);

  test('indexes are right for existing records and for new declarations, and are rebuilt after clear', async () => {
    const key = newApp();
    for (const [id, total] of [
      ['a', 3],
      ['b', 1],
      ['c', null],
    ] as const)
      await create(key, id, { total, tags: [id, 'all'], color: id });
    const ids = async (indexes: IndexDeclarations, query: string, sortIndex?: string) =>
      (await store.search(key, indexes, { query, sortIndex })).records.map((record) => record.id);
    expect(await ids(declared, 'total > 0', 'total')).toEqual(['b', 'a']);
    const more: IndexDeclarations = new Map([...declared, ['color', 'field']]);
    await create(key, 'd', { color: 'd' });
    expect(await ids(more, "color > 'b'")).toEqual(['c', 'd']);
    expect(await ids(new Map([['total', 'keyword']]), '3 in total')).toEqual(['a']);
    expect(await ids(declared, "'all' in tags and total < 3")).toEqual(['b']);
    expect(await store.refresh(key, more, { rebuild: false })).toEqual([
      'author',
      'body',
      'color',
      'id',
      'tags',
      'total',
    ]);
    expect(await ids(more, "color == 'd'")).toEqual(['d']);
    expect(await store.refresh(key, declared, { rebuild: true })).toEqual(['author', 'body', 'id', 'tags', 'total']);
    expect(await ids(declared, 'total == null')).toEqual(['c', 'd']);
    expect(await store.progress(key)).toBeNull();
    await store.clear(key);
    expect(await ids(declared, 'not total == 7')).toEqual([]);
    await create(key, 'a', { total: 7 });
    expect(await ids(declared, 'total == 7')).toEqual(['a']);
    await database.knex('apps_records').where({ app: key.app }).delete();
    await create(key, 'z', { total: 7 });
    const fresh = createRecordStore({ database: hostOf(database.knex, client), limits });
    const found = await fresh.search(key, declared, { query: 'total == 7' });
    expect(found.records.map((record) => record.id)).toEqual(['z']);
  }, 20_000);

  test('records that other code writes while the process runs are found soon', async () => {
    const key = newApp();
    for (const id of ['a', 'b']) await create(key, id, { total: 1 });
    expect(await store.count(key, declared, 'total == 1')).toBe(2);
    // Like an import: all records are removed and inserted with other numbers.
    const rows = await database.knex('apps_records').where({ app: key.app });
    await database.knex('apps_records').where({ app: key.app }).delete();
    for (const { id: _, ...row } of rows) await database.knex('apps_records').insert({ ...row, items: '{"total":2}' });
    await new Promise((resolve) => setTimeout(resolve, 2_100));
    expect(await store.count(key, declared, 'total == 2')).toBe(2);
    expect(await store.count(key, declared, 'total == 1')).toBe(0);
  }, 30_000);

  test('records written while the indexes are being built are found', async () => {
    const key = newApp();
    await store.createMany(
      key,
      from(
        Array.from(
          { length: 2000 },
          (_, at): NewRecord => ({ id: `r${at}`, items: { total: at, body: 'alpha beta' }, creator: null }),
        ),
      ),
    );
    const building = store.refresh(key, declared, { rebuild: true });
    for (let at = 0; at < 40; at++) {
      await store.transact((unit) => unit.update(key, `r${at * 50}`, { set: { total: -1 } }));
      await create(key, `n${at}`, { total: -2 });
      await store.transact((unit) => unit.delete(key, `r${at * 50 + 1}`));
    }
    await building;
    expect(await store.count(key, declared, 'total == -1')).toBe(40);
    expect(await store.count(key, declared, 'total == -2')).toBe(40);
    expect(await store.count(key, declared, 'total >= 0')).toBe(2000 - 80);
    expect(await store.count(key, declared, "'alpha' in body")).toBe(2000 - 40);
  }, 60_000);
});
