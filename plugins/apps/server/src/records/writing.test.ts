import { describe, expect, test } from 'vitest';
import { availableClients } from '../database/testing/databases';
import type { IndexDeclarations } from '../indexes/types';
import { declared, useStore } from './testing/stores';
import type { RecordStore } from './types';

const none: IndexDeclarations = new Map();

describe.each(await availableClients())('writing one record on %s', (client) => {
  let store: RecordStore;
  const { newApp, create } = useStore(client, (opened) => {
    ({ store } = opened);
  });

  test('items are stored unchanged, without id', async () => {
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

  test('ids are compared byte by byte, within an app', async () => {
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

  test.each(['', 'a\nb', '\u0000', '\u009f', '\ud800', 'x'.repeat(256)])('the id %j is refused', async (id) => {
    await expect(store.get(newApp(), id)).rejects.toMatchObject({ name: 'BadRequestError' });
    await expect(create(newApp(), id, {})).rejects.toMatchObject({ name: 'BadRequestError' });
  });

  test('a record without id gets digits; a taken id is refused or numbered', async () => {
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

  test('an update merges changes, unsets and increments', async () => {
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

  test.each<[object]>([[{ n: Infinity }], [{ n: [1, { m: -Infinity }] }], [{ n: Number.NaN }]])(
    'a number that JSON does not have is not stored: %j',
    async (wrong) => {
      const key = newApp();
      await create(key, 'a', {});
      const refused = { name: 'BadRequestError', message: 'The item "n" has a number that is too large' };
      await expect(create(key, 'b', wrong as never)).rejects.toMatchObject(refused);
      const change = { set: wrong as never };
      await expect(store.transact((unit) => unit.update(key, 'a', change))).rejects.toMatchObject(refused);
    },
  );

  const items = (count: number, name = 'a') =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`${name}${at}`, at]));

  test('a record has at most 1,000 items of a name of 1,000 characters, after any kind of write', async () => {
    const key = newApp();
    const tooMany = { name: 'BadRequestError', message: expect.stringMatching(/at most 1000 items/) };
    const tooLong = { name: 'BadRequestError', message: expect.stringMatching(/at most 1000 characters/) };
    const long = { ['n'.repeat(1_001)]: 1 };
    const change = (value: object) => store.transact((unit) => unit.update(key, 'a', value));
    await create(key, 'a', { ...items(1_000), id: 'a' });
    await change({ set: items(1_000), inc: { a1: 1 } });
    await change({ set: { ['n'.repeat(1_000)]: 1 }, unset: ['a0'] });
    const refusals: [object, object][] = [
      [items(1_001), tooMany],
      [long, tooLong],
    ];
    for (const [wrong, refused] of refusals) {
      await expect(create(key, 'b', wrong as never)).rejects.toMatchObject(refused);
      async function* bulk() {
        yield { id: 'c', items: wrong as never, creator: null };
      }
      await expect(store.createMany(key, bulk())).rejects.toMatchObject(refused);
    }
    await expect(change({ set: { more: 1 } })).rejects.toMatchObject(tooMany);
    await expect(change({ inc: { more: 1 } })).rejects.toMatchObject(tooMany);
    await expect(change({ set: long, unset: ['a1'] })).rejects.toMatchObject(tooLong);
    expect(await store.count(key, declared)).toBe(1);
  });

  test('a record of an export keeps all its items; it changes, but does not grow above the limit', async () => {
    const key = newApp();
    const old = { ...items(1_200), ['n'.repeat(2_000)]: 1 };
    async function* bulk() {
      yield { id: 'a', items: old, creator: null };
    }
    const change = (value: object) => store.transact((unit) => unit.update(key, 'a', value));
    expect(await store.createMany(key, bulk(), { restores: true })).toBe(1);
    expect((await store.get(key, 'a'))?.items).toEqual(old);
    await change({ set: { a0: 'changed' }, inc: { a1: 1 } });
    await change({ set: { other: 1 }, unset: ['a2'] });
    expect((await store.get(key, 'a'))?.items).toMatchObject({ a0: 'changed', a1: 2, other: 1 });
    await expect(change({ set: { more: 1 } })).rejects.toMatchObject({ name: 'BadRequestError' });
    await expect(change({ set: { ['m'.repeat(1_001)]: 1 }, unset: ['a3'] })).rejects.toMatchObject({
      message: expect.stringMatching(/1000 characters/),
    });
  });
});
