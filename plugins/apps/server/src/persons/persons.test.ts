import type { Knex } from 'knex';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import answer from '../content-types/answer/schema.json';
import audit from '../content-types/audit-entry/schema.json';
import draft from '../content-types/draft/schema.json';
import history from '../content-types/history/schema.json';
import job from '../content-types/job/schema.json';
import mail from '../content-types/mail/schema.json';
import run from '../content-types/run/schema.json';
import { pendingTable } from '../database';
import { availableClients, createTestDatabase, type TestDatabase } from '../database/testing/databases';
import { scopeOf } from '../records';
import { addColumns } from '../records/testing/columns';
import type { Items } from '../records/types';
import { keepJobs } from './keep';
import { createPersons, lookForPersons } from './persons';
import { createTableStatements, type TableStatements } from './scan';

const anna = 'anna@example.org';
const place = { site: 'site', app: 'app' };
const schemas = [answer, audit, draft, history, job, mail, run];
const tables = ['apps_records', 'apps_rules', ...schemas.map(({ collectionName }) => collectionName)];

/** The tables that are looked at, without the indexes and without what Strapi adds to each. */
async function makeTables(knex: Knex): Promise<void> {
  for (const { collectionName, attributes } of schemas)
    await knex.schema.createTable(collectionName, (table) => addColumns(table, attributes));
  await knex.schema.createTable('apps_rules', (table) => {
    table.increments('id');
    for (const name of ['name', 'app']) table.string(name);
    table.jsonb('failures');
  });
  await knex.schema.createTable(pendingTable, (table) => {
    for (const name of ['first', 'last']) table.integer(name);
  });
}

const mailOf = (more: object) => ({ ...place, mail_id: 'm', recipients: 'office@example.org', subject: 'S', ...more });
const line = (who: string) => ({ title: `Booking of ${who}`, url: `http://host/${who}` });
const failure = (who: string) => ({ at: '2026-01-01', documentId: 'd', message: `cannot write to ${who}` });
const ben = 'ben@example.org';

/** A row, and what is left of it after the erasure; null: nothing. */
const rows: [title: string, table: string, row: object, left: object | null][] = [
  ['a mail', 'apps_mails', mailOf({ subject: line(anna).title, links: JSON.stringify([line(anna)]) }), null],
  [
    'a digest whose first mail was about the person',
    'apps_mails',
    mailOf({ subject: line(anna).title, links: JSON.stringify([line(anna), line(ben)]) }),
    { subject: '', text: null, links: JSON.stringify([line(ben)]) },
  ],
  [
    'a digest that was given up',
    'apps_mails',
    mailOf({ subject: '2 new', text: `${anna}, ${ben}`, links: JSON.stringify([line(anna), line(ben)]) }),
    { subject: '', text: null, links: JSON.stringify([line(ben)]) },
  ],
  [
    'a digest to the person',
    'apps_mails',
    mailOf({ recipients: anna, links: JSON.stringify([line('x'), line(ben)]) }),
    null,
  ],
  [
    'a job of a mail that was given up',
    'apps_jobs',
    { ...place, job_id: 'j', name: line(anna).title, data: '{}' },
    null,
  ],
  [
    'failures of a rule',
    'apps_rules',
    { name: 'r', app: 'app', failures: JSON.stringify([failure(anna), failure(ben)]) },
    { failures: [failure(ben)] },
  ],
];

describe.each(await availableClients())('what is stored of persons on %s', (client) => {
  let database: TestDatabase;
  let at = 0;
  beforeAll(async () => {
    database = await createTestDatabase(client);
    await makeTables(database.knex);
  }, 30_000);
  beforeEach(async () => {
    for (const table of tables) await database.knex(table).delete();
  });
  afterAll(() => database.destroy());

  /** Drafts cannot be erased here, and half a minute goes by between two looks at the clock. */
  const persons = () =>
    createPersons({
      database: database.host,
      loadApp: () => null,
      links: { ofRecord: async () => [] },
      drafts: { remove: () => Promise.reject(new Error('no')) },
      accounts: async () => [],
      sign: () => '',
      services: () => ({ runs: { inMemory: () => [], forget: () => false } }) as never,
      files: () => ({ bytes: () => Promise.reject(new Error('none')) }),
      locale: () => Promise.reject(new Error('none')),
      onError() {},
      now: () => {
        at += 30_000;
        return at;
      },
    });

  test.each(rows)('%s', async (_title, table, row, left) => {
    await database.knex(table).insert(row);
    const { groups } = await persons().find(anna);
    expect(groups).toMatchObject([{ app: 'app', does: left ? 'change' : 'delete', count: 1 }]);
    expect(await persons().erase(anna)).toMatchObject({ groups: groups, done: true, failed: [] });
    const found = (await database.knex(table)).map(({ failures, ...others }) => ({
      ...others,
      ...(failures && { failures: typeof failures === 'string' ? JSON.parse(failures) : failures }),
    }));
    expect(found).toMatchObject(left ? [left] : []);
    expect((await persons().find(anna)).groups).toEqual([]);
  });

  describe('keep', () => {
    const blocks = new Map([
      ['visit', { id: 'visit', definition: { privacy: { keep: { count: 30, unit: 'day' }, anonymize: null } } }],
    ]);
    const record = (block: string, n: number) => ({
      ...place,
      scope: scopeOf(place),
      identifier: String(n),
      items: JSON.stringify({ block }),
      created_at: new Date(0),
    });
    beforeEach(async () => {
      for (const [block, count] of [
        ['other', 250],
        ['visit', 120],
      ] as const)
        await database.knex.batchInsert(
          'apps_records',
          Array.from({ length: count }, (_, n) => record(block, n)),
          50,
        );
      const version = { ...place, scope: scopeOf(place), identifier: 'gone', hash: 'gone', at: 0 };
      await database.knex('apps_history').insert({ ...version, items: '{"block":"visit"}', earlier: '{}' });
    });

    /** Does a job of `keep`, whose time is over at its second look at the clock, until it ends; the ids that each try has removed. */
    const keepAll = async (
      fails: readonly string[] = [],
      signal = new AbortController().signal,
      data: Items = { block: 'visit' },
    ) => {
      const tries: string[][] = [];
      const isGone = new Set<string>();
      const remove = async (_work: unknown, { id }: { id: string }) => {
        if (fails.includes(id)) throw new Error('not this one');
        expect(isGone.has(id)).toBe(false);
        isGone.add(id);
        tries.at(-1)?.push(id);
        return null;
      };
      const handler = keepJobs({
        tables: createTableStatements(database.host),
        loadApp: () => ({ error: null, blocks }) as never,
        services: () => ({ sites: { site: async () => null }, store: { transact: remove } }) as never,
        now: () => {
          at += 50_000;
          return Date.now() + at;
        },
      });
      for (let isDone = false; !isDone; ) {
        isDone = true;
        tries.push([]);
        const end = async (_: unknown, more?: Items) => {
          isDone = false;
          data = JSON.parse(JSON.stringify(more));
        };
        await handler({ job: { key: place, data }, signal, end } as never);
      }
      return tries;
    };

    test('goes on where its time was over, also where it has found nothing until then', async () => {
      const tries = await keepAll();
      expect(tries[0]).toEqual([]);
      expect(tries.flat()).toEqual(Array.from({ length: 120 }, (_, n) => String(n)));
      expect(await database.knex('apps_history')).toEqual([]);
    });

    test('says at its end which records could not be removed', async () => {
      const failure = await keepAll(['3', '7']).catch((error) => error);
      expect(failure.message).toBe('2 records could not be removed, first 3: not this one');
      // The next try looks at all of them again.
      expect((await keepAll([], undefined, failure.data)).flat()).toContain('3');
    });

    test('ends with the lease of its job, also where there is nothing to remove', async () => {
      await database.knex('apps_records').where('items', 'like', '%visit%').delete();
      await expect(keepAll([], AbortSignal.abort(new Error('the lease has been lost')))).rejects.toThrow('lease');
    });
  });

  test('each request that erases brings something, however long its way there is, and whatever fails', async () => {
    const content = JSON.stringify({ fields: { email: [anna] }, files: [] });
    const drafts = ['one', 'two'].map((draft_id) => ({ ...place, draft_id, content }));
    const mails = Array.from({ length: 150 }, (_, n) => mailOf({ mail_id: `m${n}`, text: n % 50 === 49 ? anna : ben }));
    await database.knex('apps_drafts').insert(drafts);
    for (const row of mails) await database.knex('apps_mails').insert(row);
    const counts: number[] = [];
    for (let isDone = false; !isDone; ) {
      const { groups, done, failed } = await persons().erase(anna);
      const count = groups.reduce((sum, one) => sum + one.count, 0);
      if (!done) expect(count).toBeGreaterThan(0);
      expect(failed.map(({ id }) => id)).toEqual(['one', 'two']);
      counts.push(count);
      isDone = done;
    }
    expect(counts).toEqual([1, 1, 1]);
  });
});

/** A version that a change has made of a record of the app. */
const versionOf = ([id, items, before]: [string, object | null, object | null]) => ({
  ...place,
  hash: id,
  scope: scopeOf(place),
  identifier: id,
  at: 1,
  requester: '',
  through: 'form',
  items: items && JSON.stringify(items),
  earlier: before && JSON.stringify({ set: before, added: [] }),
});

/** Versions of deleted records, but for `there`, and those of the block `sign_up`, which `keep` forgets. */
const versions: [string, object | null, object | null][] = [
  ['made', { block: 'sign_up' }, null],
  ['deleted', null, { block: 'sign_up', name: 'Anna' }],
  ['moved', { block: 'order' }, { block: 'sign_up' }],
  ['there', { block: 'sign_up' }, null],
  ['any character', { block: 'sign-up' }, null],
  ['case', null, { block: 'Sign_Up' }],
  ['nested', { block: 'order', places: [{ block: 'sign_up' }] }, { places: [] }],
];

describe.each(await availableClients())('keep on %s', (client) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase(client);
    await makeTables(database.knex);
  }, 30_000);
  afterAll(() => database.destroy());

  const keep = (tables: TableStatements) => {
    const definition = { privacy: { keep: { count: 1, unit: 'day' }, anonymize: null } };
    const app = { error: null, blocks: new Map([['sign_up', { id: 'sign_up', error: null, definition }]]) };
    const services = () => Promise.reject(new Error('no record is removed')) as never;
    const work = keepJobs({ tables, loadApp: () => app as never, services });
    const job = { key: place, data: { block: 'sign_up' } };
    return work({ job, signal: new AbortController().signal, end: () => Promise.reject(new Error('late')) } as never);
  };

  const left = async () => (await database.knex('apps_history').orderBy('id')).map(({ hash }) => hash);

  const makeAgain = (id: string) =>
    database.knex('apps_records').insert({ ...place, hash: id, scope: scopeOf(place), identifier: id, items: '{}' });

  test('the versions of deleted records of one block alone are forgotten', async () => {
    await database.knex('apps_history').insert(versions.map(versionOf));
    await makeAgain('there');
    await keep(createTableStatements(database.host));
    expect(await left()).toEqual(['there', 'any character', 'case', 'nested']);
  });

  test('those of a record that is made again meanwhile are left', async () => {
    await database.knex('apps_history').delete();
    await database.knex('apps_history').insert(versions.slice(0, 2).map(versionOf));
    const tables = createTableStatements(database.host);
    await keep({
      ...tables,
      async write(work) {
        if (!(await database.knex('apps_records').where({ hash: 'deleted' }).first())) await makeAgain('deleted');
        return tables.write(work);
      },
    });
    expect(await left()).toEqual(['deleted']);
  });
});

test('at a start all apps that may have persons are loaded before addresses may be shown', async () => {
  const done: string[] = [];
  const tools = {
    sites: { watched: async (words: readonly string[]) => [{ site: {} as never, appId: words.join() }] },
    loadApp: async (_site: unknown, appId: string) => {
      done.push(appId);
      return null;
    },
    masks: { startLook: () => void done.push('masked'), endLook: () => void done.push('shown') },
  };
  await lookForPersons(tools);
  expect(done).toEqual(['masked', 'person', 'shown']);
  await expect(lookForPersons({ ...tools, loadApp: () => Promise.reject(new Error('no theme')) })).rejects.toThrow();
  expect(done.at(-1)).toBe('masked');
});
