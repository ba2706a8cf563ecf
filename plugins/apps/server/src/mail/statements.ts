import type { HostDatabase } from '../database';
import type { AppKey } from '../records/types';
import type { MailLink, MailRow } from './types';

const MAILS = 'apps_mails';

/** Milliseconds in which an app may send as many mails as its limit says. */
export const RATE_WINDOW = 60 * 60_000;

/** Milliseconds between attempts: one more attempt than there are numbers. The last is the longest. */
const RETRIES = [60_000, 10 * 60_000, 60 * 60_000, 6 * 60 * 60_000];
const LONGEST = 6 * 60 * 60_000;
export const MAX_ATTEMPTS = RETRIES.length + 1;

/** Mails of one form that wait, to different recipients; those to the same ones are one. */
export const MAX_WAITING = 1_000;

/** Lines of a digest; what is beyond is counted only. */
export const MAX_LINES = 200;

/** Mails that one transaction makes wait. */
export const MAX_HELD = 500;

/** A transaction of the host's database. */
export type Transaction = Parameters<Parameters<HostDatabase['transaction']>[0]>[0];
type Connection = ReturnType<HostDatabase['knex']>;
type Query = ReturnType<Connection>;

/** A row of a result whose columns the query's type does not know. */
type Row = Record<string, unknown>;
const rowsOf = async (query: PromiseLike<unknown>): Promise<Row[]> => (await query) as Row[];

/** A row as the database has it. */
interface Stored {
  id: number;
  block: string;
  kind: string | null;
  links: string | null;
  mails: number;
  state: MailRow['state'];
  attempts: number;
}

/** The rate of an app, at a moment. */
export interface Rate {
  limit: number;
  /** Milliseconds since the epoch. */
  at: number;
}

export const keyOf = ({ site, app }: AppKey) => ({ site, app });

/** Attempts in the last hour; with those of a process whose clock is ahead, but not those of a clock that was wrong. */
const inWindow = (query: Query, at: number): Query =>
  query.where('tried_at', '>', at - RATE_WINDOW).where('tried_at', '<=', at + RATE_WINDOW);

/** Times that have come; one that is further away than any delay is of a clock that was wrong. */
const isDue = (query: Query, at: number): Query =>
  query.where((either) => either.where('due_at', '<=', at).orWhere('due_at', '>', at + LONGEST));

/** The mails of an app that are tried in the hour before `at`. */
export async function triedOf(db: Connection, key: AppKey, at: number): Promise<number> {
  const [row] = await rowsOf(inWindow(db(MAILS).where(keyOf(key)), at).count({ tried: '*' }));
  return Number(row?.tried ?? 0);
}

/** When the rate allows another attempt: milliseconds since the epoch. */
export async function freeAt(db: Connection, key: AppKey, { limit, at }: Rate): Promise<number> {
  const tried = inWindow(db(MAILS).where(keyOf(key)), at).orderBy('tried_at', 'desc');
  const [row] = await tried
    .offset(limit - 1)
    .limit(1)
    .select('tried_at');
  return row ? Number(row.tried_at) + RATE_WINDOW : at;
}

/** Apps with mails that are to be sent, at once or later. */
export async function unsentApps(db: Connection): Promise<AppKey[]> {
  const rows = await db(MAILS).whereIn('state', ['queued', 'waiting']).distinct('site', 'app');
  return rows.map(({ site, app }) => ({ site: String(site), app: String(app) }));
}

/** When the next mail of an app may be sent: the first queued one, or one that waits for the rate. */
export async function nextAt(db: Connection, key: AppKey, rate: Rate): Promise<number | null> {
  const [queued] = await rowsOf(
    db(MAILS)
      .where({ ...keyOf(key), state: 'queued' })
      .min({ due: 'due_at' }),
  );
  const [waiting] = await rowsOf(
    db(MAILS)
      .where({ ...keyOf(key), state: 'waiting' })
      .limit(1)
      .select('id'),
  );
  const times = queued?.due === null || queued?.due === undefined ? [] : [Number(queued.due)];
  if (waiting) times.push(rate.limit === 0 ? rate.at : await freeAt(db, key, rate));
  if (times.length === 0) return null;
  const next = Math.min(...times);
  // One that is further away than any delay is of a clock that was wrong.
  return next > rate.at + LONGEST ? rate.at : next;
}

/** What an app's mails of the states that the panel shows stand for, and how many they are. */
export async function countStates(db: Connection, key: AppKey): Promise<Record<'waiting' | 'kept', number>> {
  const shown = db(MAILS).where(keyOf(key)).whereIn('state', ['waiting', 'kept']);
  const rows = await rowsOf(shown.groupBy('state').select('state').sum({ mails: 'mails' }));
  const of = (state: string) => Number(rows.find((row) => row.state === state)?.mails ?? 0);
  return { waiting: of('waiting'), kept: of('kept') };
}

/** Mails of an app that are not being sent: what waits, and what is queued and due. */
const toSend = (db: Connection, key: AppKey, at: number): Query =>
  db(MAILS)
    .where(keyOf(key))
    .where((either) =>
      either.where('state', 'waiting').orWhere((queued) => isDue(queued.where('state', 'queued'), at)),
    );

/** Claims an attempt: the oldest mail to be sent of the block whose latest attempt is the longest ago. */
export async function claimNext(trx: Transaction, key: AppKey, at: number): Promise<MailRow | null> {
  const first = await firstOfBlocks(trx, key, at);
  if (first === null) return null;
  const row: (Stored & Record<string, unknown>) | undefined = await trx(MAILS).where({ id: first }).first();
  if (!row) return null;
  const dueAt = at + (RETRIES[row.attempts] ?? LONGEST);
  const claimed = { state: 'queued' as const, attempts: row.attempts + 1, tried_at: at, due_at: dueAt };
  const { id, attempts, state } = row;
  // Not if an attempt that took longer than its time has ended meanwhile.
  const count = await trx(MAILS).where({ id, attempts, state }).update(claimed);
  return count === 1 ? mailOf({ ...row, ...claimed }) : null;
}

/** The id of the mail to be sent next, so that a form that is sent very often does not hold back the others. */
async function firstOfBlocks(trx: Transaction, key: AppKey, at: number): Promise<number | null> {
  const blocks = await rowsOf(toSend(trx, key, at).groupBy('block').select('block').min({ first: 'id' }));
  const tried = inWindow(trx(MAILS).where(keyOf(key)), at)
    .groupBy('block')
    .select('block')
    .max({ at: 'tried_at' });
  const latest = new Map((await rowsOf(tried)).map((row) => [row.block, Number(row.at)]));
  const order = blocks.map(({ block, first }) => ({ at: latest.get(block) ?? 0, first: Number(first) }));
  const [next] = order.sort((one, other) => one.at - other.at || one.first - other.first);
  return next?.first ?? null;
}

const withoutText = { text: null, html: null, reply_to: null, opt_out: null, calendar: null };

const heldColumns = ['id', 'block', 'kind', 'links', 'mails', 'state', 'attempts'];

/** What has become of mails that could not be sent. */
export interface Held {
  /** How many there were, at most `MAX_HELD`. */
  count: number;
  /** How many of them are kept, and why. */
  kept: number;
  reason: string;
}

/** Keeps all mails of an app that may send none, without text: a host's `mails` is 0. */
export async function giveUp(trx: Transaction, key: AppKey, at: number): Promise<Held> {
  const reason = 'the limit `mails` is 0';
  const kept = await toSend(trx, key, at).update({ ...withoutText, state: 'kept', error: reason });
  return { count: 0, kept: Number(kept), reason };
}

/**
 * Makes the queued mails of an app wait until its rate allows more; those of one kind become one. Mails beyond `MAX_WAITING`
 * of a form are kept without text.
 */
export async function hold(trx: Transaction, key: AppKey, rate: Rate): Promise<Held> {
  const reason = `${MAX_WAITING} mails of its form waited already`;
  const queued = isDue(trx(MAILS).where({ ...keyOf(key), state: 'queued' }), rate.at);
  const rows: Stored[] = await queued.orderBy('id').limit(MAX_HELD).select(heldColumns);
  const added: Stored[] = [];
  for (const [first, ...others] of await groupsOf(trx, key, rows)) {
    if (!first) continue;
    if (others.length > 0) await join(trx, first, others);
    if (first.state !== 'waiting') added.push(first);
  }
  if (added.length === 0) return { count: rows.length, kept: 0, reason };
  const kept = await beyond(trx, key, added);
  const waiting = added.filter((row) => !kept.includes(row));
  await change(trx, waiting, { state: 'waiting', due_at: await freeAt(trx, key, rate) });
  await change(trx, kept, { ...withoutText, state: 'kept', error: reason });
  return { count: rows.length, kept: kept.length, reason };
}

/** Rows that become one: those of a kind, before the first attempt, with the one that waits already. Each other is alone. */
async function groupsOf(trx: Transaction, key: AppKey, rows: readonly Stored[]): Promise<Stored[][]> {
  const isAlone = ({ kind, attempts }: Stored) => kind === null || attempts > 0;
  const groups = new Map<string, Stored[]>();
  const joinable = rows.filter((row) => !isAlone(row));
  const kinds = [...new Set(joinable.map(({ kind }) => kind))];
  const waiting: Stored[] =
    kinds.length === 0
      ? []
      : await trx(MAILS)
          .where({ ...keyOf(key), state: 'waiting', attempts: 0 })
          .whereIn('kind', kinds)
          .select(heldColumns);
  for (const row of [...waiting, ...joinable]) {
    const kind = String(row.kind);
    groups.set(kind, [...(groups.get(kind) ?? []), row]);
  }
  return [...groups.values(), ...rows.filter(isAlone).map((row) => [row])];
}

/** Adds mails to the first one of their kind, which becomes a digest. */
async function join(trx: Transaction, first: Stored, others: readonly Stored[]): Promise<void> {
  const { links, mails } = merged([first, ...others]);
  const changed = { ...withoutText, mails, ...(links !== first.links && { links }) };
  await trx(MAILS).where({ id: first.id }).update(changed);
  const ids = others.map(({ id }) => id);
  await trx(MAILS).whereIn('id', ids).delete();
}

/** What a digest has of the mails that it replaces. */
type Part = Pick<MailRow, 'links' | 'mails'>;

/** The links of a row, written by this process or another one. */
export const linksOf = ({ links }: Pick<MailRow, 'links'>): MailLink[] => (links === null ? [] : JSON.parse(links));

/** Joins what several mails of one kind tell of; a record that is named twice has its latest title. */
export function merged(parts: readonly Part[]): Part {
  const titles = new Map<string, string>();
  let mails = 0;
  for (const part of parts) {
    const links = linksOf(part);
    mails += part.mails - links.filter(({ url }) => titles.has(url)).length;
    for (const { url, title } of links) if (titles.has(url) || titles.size < MAX_LINES) titles.set(url, title);
  }
  return { links: JSON.stringify([...titles].map(([url, title]) => ({ title, url }))), mails };
}

/** Those of `added` that are beyond the number of mails of their block that may wait. */
async function beyond(trx: Transaction, key: AppKey, added: readonly Stored[]): Promise<Stored[]> {
  const waiting = trx(MAILS).where({ ...keyOf(key), state: 'waiting' });
  const rows = await rowsOf(waiting.groupBy('block').select('block').count({ rows: '*' }));
  const counts = new Map(rows.map((row) => [String(row.block), Number(row.rows)]));
  return [...added]
    .sort((one, other) => one.id - other.id)
    .filter(({ block }) => {
      const before = counts.get(block) ?? 0;
      counts.set(block, before + 1);
      return before >= MAX_WAITING;
    });
}

async function change(trx: Transaction, rows: readonly Stored[], data: Record<string, unknown>): Promise<void> {
  if (rows.length === 0) return;
  const ids = rows.map(({ id }) => id);
  await trx(MAILS).whereIn('id', ids).update(data);
}

function mailOf(row: Record<string, unknown>): MailRow {
  const { mail_id: mailId, reply_to: replyTo, opt_out: optOut, tried_at: triedAt, due_at: dueAt } = row;
  const { site, app, block, kind, links, mails, recipients, subject, text, html, calendar, state, attempts, error } =
    row;
  const same = {
    site,
    app,
    block,
    kind,
    links,
    mails,
    recipients,
    subject,
    text,
    html,
    calendar,
    state,
    attempts,
    error,
  };
  return { ...same, mailId, replyTo, optOut, triedAt, dueAt } as MailRow;
}
