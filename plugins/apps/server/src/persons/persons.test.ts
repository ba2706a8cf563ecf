import type { Knex } from 'knex';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import answer from '../content-types/answer/schema.json';
import audit from '../content-types/audit-entry/schema.json';
import draft from '../content-types/draft/schema.json';
import history from '../content-types/history/schema.json';
import job from '../content-types/job/schema.json';
import mail from '../content-types/mail/schema.json';
import run from '../content-types/run/schema.json';
import { availableClients, createTestDatabase, type TestDatabase } from '../database/testing/databases';
import { addColumns } from '../records/testing/columns';
import { createPersons, lookForPersons } from './persons';

const anna = 'anna@example.org';
const place = { site: 'site', app: 'app' };
const schemas = [answer, audit, draft, history, job, mail, run];
const tables = ['apps_rules', ...schemas.map(({ collectionName }) => collectionName)];

/** The tables that are looked at, without the indexes and without what Strapi adds to each. */
async function makeTables(knex: Knex): Promise<void> {
  for (const { collectionName, attributes } of schemas)
    await knex.schema.createTable(collectionName, (table) => addColumns(table, attributes));
  await knex.schema.createTable('apps_rules', (table) => {
    table.increments('id');
    for (const name of ['name', 'app']) table.string(name);
    table.jsonb('failures');
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
