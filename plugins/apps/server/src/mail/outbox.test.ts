import type { Knex } from 'knex';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  availableClients,
  connect,
  createTestDatabase,
  hostOf,
  type TestDatabase,
} from '../database/testing/databases';
import type { AppKey } from '../records/types';
import { createOutbox, type Outbox } from './mailer';
import { linksOf, MAX_LINES } from './statements';
import { createTables } from './testing/tables';
import type { MailRow } from './types';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const key = { site: 'site', app: 'mails' };

describe.each(await availableClients())('the outbox on %s', (client) => {
  let database: TestDatabase;
  /** A second pool of connections, as another process has it. Two in one process would block each other on SQLite. */
  let other: Knex;
  let now: number;
  let stored = 0;
  let kept: [app: AppKey, count: number, reason: string][] = [];

  beforeAll(async () => {
    database = await createTestDatabase(client, { table: false });
    other = client === 'sqlite' ? database.knex : connect(database.address);
    await createTables(database.knex);
  }, 30_000);
  beforeEach(async () => {
    now = 1_000 * HOUR;
    stored = 0;
    kept = [];
    for (const table of ['apps_mails', 'apps_mail_rates']) await database.knex(table).delete();
  });
  afterAll(async () => {
    if (other !== database.knex) await other.destroy();
    await database.destroy();
  });

  const outboxOf = (limit: number, knex = database.knex): Outbox =>
    createOutbox({ database: hostOf(knex, client), limit, onKept: (...about) => kept.push(about), now: () => now });

  /** Stores mails as requests do. A star in `kind` stands for the number of each: none is of the kind of another. */
  async function store(count: number, given: Partial<Record<string, string | null>> = {}): Promise<void> {
    const { block = 'form', kind = block, ...more } = given;
    const rows = Array.from({ length: count }, (_, at) => {
      stored += 1;
      const link = { title: `Subject ${stored}`, url: `http://host/record/${stored}` };
      return {
        ...key,
        mail_id: `mail-${stored}`,
        block,
        kind: kind?.replace('*', String(at)) ?? null,
        links: kind === null ? null : JSON.stringify([link]),
        mails: 1,
        state: 'queued',
        recipients: 'office@example.org',
        subject: link.title,
        text: 'A text',
        html: '<p>A text</p>',
        reply_to: 'me@example.org',
        attempts: 0,
        due_at: now,
        ...more,
      };
    });
    for (let at = 0; at < rows.length; at += 100) await database.knex('apps_mails').insert(rows.slice(at, at + 100));
  }

  async function claimAll(outbox: Outbox): Promise<MailRow[]> {
    const claimed: MailRow[] = [];
    for (let row = await outbox.claim(key); row; row = await outbox.claim(key)) {
      await database.knex('apps_mails').where({ mail_id: row.mailId }).update({ state: 'sent' });
      claimed.push(row);
    }
    return claimed;
  }
  const rows = (state: string) => database.knex('apps_mails').where({ state }).orderBy('id');
  const subjects = (mails: readonly MailRow[]) => mails.map(({ subject }) => subject);

  test('mails over the rate wait as one of each kind, and each is in one that is sent', async () => {
    const outbox = outboxOf(20);
    await store(40);
    await store(1, { block: 'other' });
    await store(1, { kind: 'to somebody else' });
    const sent = await claimAll(outbox);
    expect(sent).toHaveLength(20);
    expect(sent[0]).toMatchObject({ text: 'A text', mails: 1, attempts: 1, triedAt: now, replyTo: 'me@example.org' });
    expect(await outbox.state(key)).toEqual({
      waiting: 22,
      tried: 20,
      next: new Date(now + HOUR).toISOString(),
      kept: 0,
    });
    // More of a kind are added to what waits.
    now += 10 * MINUTE;
    await store(5);
    expect(await outbox.claim(key)).toBeNull();
    expect((await rows('waiting')).map(({ mails, text }) => [Number(mails), text])).toEqual([
      [26, null],
      [1, 'A text'],
    ]);
    expect(await outbox.next(key)).toBe(now + 50 * MINUTE);
    expect(await outbox.apps()).toEqual([key]);

    now += 50 * MINUTE;
    expect(await outbox.next(key)).toBe(now);
    const later = await claimAll(outbox);
    expect(later.map(({ mails, text, html, replyTo }) => ({ mails, text, html, replyTo }))).toEqual([
      { mails: 26, text: null, html: null, replyTo: null },
      { mails: 1, text: 'A text', html: '<p>A text</p>', replyTo: 'me@example.org' },
    ]);
    const named = [...sent, ...later].flatMap(linksOf).map(({ title }) => title);
    expect(named.sort()).toEqual(Array.from({ length: 47 }, (_, at) => `Subject ${at + 1}`).sort());
    expect(await outbox.state(key)).toEqual({ waiting: 0, tried: 2, next: null, kept: 0 });
  });

  test('processes at the same time claim each mail once, and never more than the rate', async () => {
    await store(60);
    const outboxes = [outboxOf(40), outboxOf(40), outboxOf(40, other), outboxOf(40, other)];
    const claimed = (await Promise.all(outboxes.map(claimAll))).flat();
    expect(claimed).toHaveLength(40);
    expect(new Set(subjects(claimed)).size).toBe(40);
    expect((await rows('waiting')).map(({ mails }) => Number(mails))).toEqual([20]);
    // Beside requests that store more.
    now += HOUR;
    const [first = [], ...more] = await Promise.all([
      ...outboxes.map(claimAll),
      store(60).then(() => claimAll(outboxOf(40))),
    ]);
    expect([first, ...more].flat()).toHaveLength(40);
    const waiting = (await rows('waiting')).reduce((sum, { mails }) => sum + Number(mails), 0);
    expect(waiting).toBe(21);
  });

  test('processes may claim the first mails of an app at the same time', async () => {
    const outboxes = [database.knex, database.knex, other, other].map((knex) => outboxOf(4, knex));
    for (let round = 0; round < 20; round += 1) {
      for (const table of ['apps_mails', 'apps_mail_rates']) await database.knex(table).delete();
      await store(4);
      expect((await Promise.all(outboxes.map(claimAll))).flat()).toHaveLength(4);
    }
  }, 60_000);

  test('the rate is of any hour, not of one that begins with the first mail', async () => {
    const outbox = outboxOf(2);
    await store(1, { kind: 'first' });
    expect(await claimAll(outbox)).toHaveLength(1);
    now += 40 * MINUTE;
    await store(3, { kind: null });
    expect(await claimAll(outbox)).toHaveLength(1);
    expect(await outbox.state(key)).toMatchObject({
      waiting: 2,
      tried: 2,
      next: new Date(now + 20 * MINUTE).toISOString(),
    });
    now += 20 * MINUTE;
    expect(subjects(await claimAll(outbox))).toEqual(['Subject 3']);
    expect((await outbox.state(key)).next).toBe(new Date(now + 40 * MINUTE).toISOString());
  });

  test('a form that is sent very often does not hold back the others', async () => {
    const outbox = outboxOf(10);
    await store(10);
    await claimAll(outbox);
    // To recipients of each visitor: none of them is of the kind of another.
    await store(50, { kind: 'visitor *' });
    await store(3, { block: 'honest' });
    await store(1, { block: 'quiet', text: 'The only one' });
    expect(await outbox.claim(key)).toBeNull();
    now += HOUR;
    const sent = await claimAll(outbox);
    expect(sent.slice(0, 3).map(({ block, mails, text }) => [block, Number(mails), text])).toEqual([
      ['form', 1, 'A text'],
      ['honest', 3, null],
      ['quiet', 1, 'The only one'],
    ]);
    expect(sent).toHaveLength(10);
  });

  test('a digest has a bound, and counts what is beyond; a record counts once', async () => {
    const outbox = outboxOf(1);
    await store(1);
    await claimAll(outbox);
    await store(MAX_LINES + 400);
    expect(await outbox.claim(key)).toBeNull();
    const again = JSON.stringify([{ title: 'Changed', url: 'http://host/record/2' }]);
    await store(1, { links: again });
    expect(await outbox.claim(key)).toBeNull();
    const [row, ...more] = await rows('waiting');
    expect(more).toEqual([]);
    expect(Number(row.mails)).toBe(MAX_LINES + 400);
    const links = linksOf(row);
    expect(links).toHaveLength(MAX_LINES);
    expect(links.slice(0, 2)).toEqual([
      { title: 'Changed', url: 'http://host/record/2' },
      { title: 'Subject 3', url: 'http://host/record/3' },
    ]);
  });

  test('several mails about one record become one, whose text is made when it is sent', async () => {
    const outbox = outboxOf(1);
    await store(1);
    await claimAll(outbox);
    const links = JSON.stringify([{ title: 'The same', url: 'http://host/record/same' }]);
    await store(3, { links });
    expect(await outbox.claim(key)).toBeNull();
    expect(await rows('waiting')).toMatchObject([{ mails: 1, links, text: null, html: null }]);
  });

  test('of mails of one form to different recipients a thousand wait; the others are kept, without text', async () => {
    const outbox = outboxOf(1);
    await store(1);
    await claimAll(outbox);
    await store(1_003, { kind: 'visitor *' });
    await store(1, { block: 'honest' });
    expect(await outbox.claim(key)).toBeNull();
    expect(await outbox.state(key)).toMatchObject({ waiting: 1_001, kept: 3 });
    expect(kept).toEqual([[key, 3, '1000 mails of its form waited already']]);
    expect(await rows('kept')).toMatchObject(
      Array(3).fill({
        kind: expect.stringMatching(/^visitor 100[012]$/),
        text: null,
        error: expect.stringContaining('1000'),
      }),
    );
  }, 60_000);

  test('an attempt that has failed is due again, joins nothing, and counts', async () => {
    const outbox = outboxOf(2);
    await store(1);
    expect(await outbox.claim(key)).toMatchObject({ attempts: 1 });
    expect(await outbox.claim(key)).toBeNull();
    now += MINUTE;
    await store(2);
    expect(await outbox.claim(key)).toMatchObject({ subject: 'Subject 1', attempts: 2 });
    expect(await outbox.claim(key)).toMatchObject({ subject: 'Subject 2', attempts: 1 });
    now += 10 * MINUTE;
    expect(await outbox.claim(key)).toBeNull();
    expect((await rows('waiting')).map(({ subject, attempts }) => [subject, attempts])).toEqual([
      ['Subject 1', 2],
      ['Subject 2', 1],
      ['Subject 3', 0],
    ]);
    now += 50 * MINUTE;
    expect(await outbox.claim(key)).toMatchObject({ subject: 'Subject 1', attempts: 3 });
  });

  test('a clock that was wrong holds back no mail', async () => {
    const outbox = outboxOf(1);
    now += 24 * HOUR;
    await store(2);
    expect(await outbox.claim(key)).toMatchObject({ subject: 'Subject 1' });
    expect(await outbox.claim(key)).toBeNull();
    now -= 24 * HOUR;
    expect(await outbox.next(key)).toBe(now);
    expect(await outbox.claim(key)).toMatchObject({ attempts: 2 });
  });

  test('of an app that may send none, mails are kept without text', async () => {
    await store(3);
    const outbox = outboxOf(0);
    expect(await outbox.claim(key)).toBeNull();
    expect(await outbox.state(key)).toEqual({ waiting: 0, tried: 0, next: null, kept: 3 });
    expect(await rows('kept')).toMatchObject(Array(3).fill({ text: null, error: 'the limit `mails` is 0' }));
    expect(kept).toEqual([[key, 3, 'the limit `mails` is 0']]);
    expect(await outbox.claim(key)).toBeNull();
    expect(kept).toHaveLength(1);
  });

  test('the rates of apps and sites are their own', async () => {
    const outbox = outboxOf(1);
    await store(1);
    await store(1, { site: 'second' });
    await store(1, { app: 'second' });
    expect(await outbox.claim(key)).toMatchObject({ subject: 'Subject 1' });
    expect(await outbox.claim({ ...key, site: 'second' })).toMatchObject({ subject: 'Subject 2' });
    expect(await outbox.claim({ ...key, app: 'second' })).toMatchObject({ subject: 'Subject 3' });
  });
});
