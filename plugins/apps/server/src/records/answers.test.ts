import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import schema from '../content-types/answer/schema.json';
import { availableClients, createTestDatabase, type TestDatabase } from '../database/testing/databases';
import { AnsweredBefore, createKeptAnswers, type KeptAnswers } from './answers';
import { createRecordStore } from './store';
import { limits } from './testing/stores';
import type { RecordStore } from './types';

const HOUR = 60 * 60_000;
const key = { site: 'site', app: 'answers' };

describe.each(await availableClients())('kept answers on %s', (client) => {
  let database: TestDatabase;
  let store: RecordStore;
  let answers: KeptAnswers;
  let now = 0;

  beforeAll(async () => {
    database = await createTestDatabase(client);
    await database.knex.schema.createTable(schema.collectionName, (table) => {
      table.increments('id');
      table.string('answer_id').unique();
      for (const name of ['sender', 'fingerprint']) table.string(name);
      table.text('answer', 'longtext');
      table.bigInteger('ends_at');
    });
    store = createRecordStore({ database: database.host, limits });
  }, 30_000);
  beforeEach(async () => {
    now = 1_000 * HOUR;
    await database.knex(schema.collectionName).delete();
    const max = { characters: 20, ofSender: 3, together: 5 };
    answers = createKeptAnswers({
      database: database.host,
      now: () => now,
      max,
      onError: (error) => {
        throw error;
      },
    });
  });
  afterAll(async () => {
    await store?.destroy();
    await database?.destroy();
  });

  const request = (id: string, sender = 'anna') => ({ id, sender, fingerprint: 'print' });
  const save = (id: string, items = {}, sender?: string) =>
    store.transact(async (unit) => {
      const record = await unit.create(key, { items: { of: id, ...items }, creator: null });
      unit.atCommit(answers.keep(request(id, sender), `"${record.id.slice(-10)}"`));
      return record.id;
    });
  const stored = async (id: string) =>
    (await store.page(key, {})).records.filter(({ items }) => items.of === id).map((record) => record.id);
  const kept = async () => (await database.knex(schema.collectionName).select('answer_id')).map((row) => row.answer_id);

  test('are written with the work, and a repeated one stores nothing', async () => {
    expect(await answers.find('one')).toBeNull();
    const id = await save('one');
    const found = { fingerprint: 'print', answer: `"${id.slice(-10)}"`, isRunning: false };
    expect(await answers.find('one')).toEqual(found);
    await expect(save('one', { more: 1 })).rejects.toThrow(AnsweredBefore);
    expect(await stored('one')).toEqual([id]);
    expect(await answers.find('one')).toEqual(found);
  });

  test('of works that are committed together fail their own work alone', async () => {
    await save('first');
    const results = await Promise.allSettled(['a', 'first', 'b', 'a', 'c'].map((id) => save(id)));
    expect(results.map(({ status }) => status).sort()).toEqual(
      [...Array(3).fill('fulfilled'), ...Array(2).fill('rejected')].sort(),
    );
    for (const id of ['a', 'b', 'c', 'first']) expect(await stored(id)).toHaveLength(1);
  });

  test('of works on one record too, which share a unit', async () => {
    const { id } = await store.transact((unit) => unit.create(key, { items: { n: 0 }, creator: null }));
    const count = (name: string) =>
      store.transact(
        async (unit) => {
          await unit.update(key, id, { inc: { n: 1 } });
          unit.atCommit(answers.keep(request(name), 'null'));
        },
        { key, id },
      );
    const results = await Promise.allSettled(['x', 'y', 'x', 'z', 'y', 'x'].map(count));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    expect((await store.get(key, id))?.items).toEqual({ n: 3 });
  });

  test('are written where the work has changed nothing, and not where it fails', async () => {
    await store.transact(async (unit) => unit.atCommit(answers.keep(request('nothing'), 'null')));
    expect(await answers.find('nothing')).toMatchObject({ answer: 'null' });
    const failing = store.transact(async (unit) => {
      unit.atCommit(answers.keep(request('failed'), 'null'));
      throw new Error('failed');
    });
    await expect(failing).rejects.toThrow('failed');
    expect(await answers.find('failed')).toBeNull();
  });

  test('are not kept where they are too large, and the request is not carried out again', async () => {
    await store.transact(async (unit) => unit.atCommit(answers.keep(request('large'), `"${'x'.repeat(20)}"`)));
    expect(await answers.find('large')).toEqual({ fingerprint: 'print', answer: null, isRunning: false });
    await expect(save('large')).rejects.toThrow(AnsweredBefore);
  });

  test('end after a day, and may then be given again', async () => {
    await save('old');
    now += 24 * HOUR + 1;
    expect(await answers.find('old')).toBeNull();
    await save('old');
    expect(await stored('old')).toHaveLength(2);
  });

  test('a mark of a running request ends with it, or after ten minutes', async () => {
    await answers.begin(request('bulk'));
    await expect(answers.begin(request('bulk'))).rejects.toThrow(AnsweredBefore);
    expect(await answers.find('bulk')).toMatchObject({ isRunning: true });
    await answers.end(request('bulk'), null);
    await answers.begin(request('bulk'));
    await answers.end(request('bulk'), '3');
    expect(await answers.find('bulk')).toMatchObject({ answer: '3', isRunning: false });
    await answers.begin(request('killed'));
    now += 10 * 60_000 + 1;
    expect(await answers.find('killed')).toBeNull();
  });

  test('of one sender and of all are bounded', async () => {
    for (const id of ['a1', 'a2', 'a3', 'a4', 'a5']) await save(id);
    for (const id of ['b1', 'b2', 'c1']) await save(id, {}, id[0]);
    now += 60_001;
    const { first } = answers.whileRunning('x', async () => 1) as { first: Promise<number> };
    await first;
    await expect.poll(kept).toEqual(['a4', 'a5', 'b1', 'b2', 'c1']);
  });

  test('a second request is given what the first one runs', async () => {
    const first = answers.whileRunning('same', () => new Promise((resolve) => setTimeout(resolve, 20, 'done')));
    const second = answers.whileRunning('same', async () => 'again');
    expect('second' in second && (await second.second)).toBe('done');
    expect('first' in first && (await first.first)).toBe('done');
    expect('first' in answers.whileRunning('same', async () => 'later')).toBe(true);
  });
});
