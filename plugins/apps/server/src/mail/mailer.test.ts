import type { Core } from '@strapi/strapi';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, hostOf, type TestDatabase } from '../database/testing/databases';
import type { Job } from '../jobs/types';
import { snakeCase } from '../records/testing/columns';
import type { AppKey } from '../records/types';
import { createMailer } from './mailer';
import { createTables } from './testing/tables';
import type { DigestText, Mailer, MailRow, QueuedMail } from './types';

let database: TestDatabase;
let mailer: Mailer;
/** Jobs that are begun at once; of one that is given up, its reason. */
const buried: string[] = [];
const jobs = {
  async ensure({ key }: { key: AppKey }) {
    const job = { key, data: {} } as Job;
    const attempt = {
      job,
      claim: {},
      signal: new AbortController().signal,
      settle: async () => {},
      end: async () => {},
    };
    mailer.handler(attempt).catch(() => undefined);
  },
  bury: async (_job: unknown, reason: string) => void buried.push(reason),
};
/** Statements that find no database, before one that does. */
let away = 0;
/** Ends the attempts that are under way, each by its number. */
const ends: (() => void)[] = [];
/** What the provider says of a mail that it does not take. */
let refusal: string | null = null;
let digest: () => Promise<DigestText> = () => Promise.reject(new Error('the theme is gone'));
const logged: string[] = [];

const columnsOf = (row: Partial<MailRow>) =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [snakeCase(name), value]));

beforeAll(async () => {
  database = await createTestDatabase('sqlite', { table: false });
  const { knex } = database;
  await createTables(knex);
  const send = () =>
    new Promise<void>((done, fail) => ends.push(() => (refusal === null ? done() : fail(new Error(refusal)))));
  const query = {
    create: ({ data }: { data: MailRow }) => knex('apps_mails').insert(columnsOf(data)),
    updateMany: async ({ where, data }: { where: { mailId: string }; data: Partial<MailRow> }) => {
      if (away > 0) {
        away -= 1;
        throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
      }
      return knex('apps_mails').where({ mail_id: where.mailId }).update(columnsOf(data));
    },
  };
  const strapi = { plugin: () => ({ service: () => ({ send }) }), db: { query: () => query } };
  mailer = createMailer({
    strapi: strapi as unknown as Core.Strapi,
    database: hostOf(knex, 'sqlite'),
    jobs,
    logger: { warn: (line: string) => logged.push(line), error: (line: string) => logged.push(line) } as never,
    limit: 100,
    digest: () => digest(),
  });
});
afterAll(async () => {
  mailer.destroy();
  await database.destroy();
});

const queued = (app: string): QueuedMail => {
  const mail = { to: ['a@example.org'], subject: 'A mail', text: 'A text', html: null, replyTo: null };
  return { key: { site: 'site', app }, mail, about: null, receipt: null };
};
const states = async (app: string) =>
  (await database.knex('apps_mails').where({ app }).orderBy('id')).map(({ state }) => state);

async function deliver(rows: readonly MailRow[]): Promise<void> {
  await mailer.store(rows);
  for (const { site, app } of rows) await jobs.ensure({ key: { site, app } });
}

test('five mails of an app are sent at the same time, others after them, and those of other apps beside them', async () => {
  const rows = mailer.rowsOf(Array.from({ length: 12 }, () => queued('slow')));
  await mailer.store(rows);
  await jobs.ensure({ key: { site: 'site', app: 'slow' } });
  await expect.poll(() => ends.length).toBe(5);
  await deliver(mailer.rowsOf([queued('other')]));
  await expect.poll(() => ends.length).toBe(6);
  const ending = setInterval(() => {
    for (const end of ends.splice(0)) end();
  }, 10);
  await expect.poll(() => states('slow')).toEqual(Array(12).fill('sent'));
  expect(await states('other')).toEqual(['sent']);
  clearInterval(ending);
});

test('a mail that is stored while the job of its app ends is sent soon', async () => {
  const key = { site: 'site', app: 'late' };
  const job = { key, data: {} } as Job;
  const end = async () => void (await mailer.store(mailer.rowsOf([queued('late')])));
  await mailer.handler({ job, claim: {}, signal: new AbortController().signal, settle: async () => {}, end });
  await expect.poll(() => ends.length).toBe(1);
  for (const end of ends.splice(0)) end();
  await expect.poll(() => states('late')).toEqual(['sent']);
});

test('that a mail was sent is stored as soon as the database can be reached again', async () => {
  await deliver(mailer.rowsOf([queued('outage')]));
  await expect.poll(() => ends.length).toBe(1);
  away = 2;
  for (const end of ends.splice(0)) end();
  await expect.poll(() => states('outage'), { timeout: 5_000 }).toEqual(['sent']);
  expect(logged).toEqual([]);
});

test('a mail whose text cannot be made is tried again', async () => {
  await deliver(mailer.rowsOf([queued('digests')]).map((row) => ({ ...row, text: null })));
  const rows = () => database.knex('apps_mails').where({ app: 'digests' });
  await expect.poll(rows).toMatchObject([{ state: 'queued', attempts: 1, error: expect.stringContaining('theme') }]);
  expect(logged.join()).toMatch(/mail of site\/digests was not sent, it will be tried again \(.*the theme is gone\)/);
});

test('a mail that the provider refuses for good is a job that is given up', async () => {
  const [row] = mailer.rowsOf([queued('refused')]);
  await deliver([{ ...(row as MailRow), attempts: 4, text: null }]);
  await expect.poll(() => states('refused')).toEqual(['kept']);
  await expect.poll(() => buried).toEqual([expect.stringContaining('the theme is gone')]);
});

test('what is erased of a digest while it is sent does not come back with a refusal of the provider', async () => {
  digest = async () => ({ subject: '2 records', text: 'Anna, Ben', html: '' });
  const links = JSON.stringify([{ title: 'Anna' }, { title: 'Ben' }]);
  await deliver(mailer.rowsOf([queued('erased')]).map((row) => ({ ...row, text: null, links })));
  await expect.poll(() => ends.length).toBe(1);
  const rows = () => database.knex('apps_mails').where({ app: 'erased' });
  const left = { subject: '', text: null, html: null, links: JSON.stringify([{ title: 'Ben' }]) };
  await rows().update(left);
  refusal = 'full';
  for (const end of ends.splice(0)) end();
  await expect.poll(rows).toMatchObject([{ ...left, state: 'queued', attempts: 1, error: 'full' }]);
});
