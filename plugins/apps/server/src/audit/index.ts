import type { Core } from '@strapi/strapi';
import type { AuditAction, AuditEntry, AuditPage, AuditQuery } from '../../../shared/admin/why';
import { AppsError } from '../common/errors';

const ENTRY = 'plugin::apps.audit-entry';

/** Entries of all administrators, beyond which the oldest is removed, and milliseconds after which each is. */
export const RETENTION = { entries: 10_000, time: 90 * 24 * 60 * 60_000 };
/** New entries of one administrator in a day: so that none can remove older entries by making many. */
export const MAX_PER_DAY = 500;
const DAY = 24 * 60 * 60_000;
/** Milliseconds within which equal entries are one: a preview follows what is typed, and a large erasure is several requests. */
const SAME = 60 * 60_000;
const joinable: ReadonlySet<AuditAction> = new Set(['preview', 'person-erase']);
/** Entries of one answer. */
const PAGE = 50;
/** Characters of a name, and of the paths of unsaved texts as JSON. */
const MAX = { name: 250, unsaved: 4_000 };

/** What an administrator is about to run. */
export type NewAuditEntry = Pick<
  AuditEntry,
  'administrator' | 'action' | 'site' | 'app' | 'block' | 'requester' | 'unsaved'
>;

/** What administrators have run in the names of others, in the host's database (docs/decisions/audit-log.md). */
export interface AuditLog {
  /**
   * Stores the entry, runs `work`, and stores its status: that of its result, or of its error, which is rethrown. Without the entry
   * it does not run. RateLimitError beyond the entries that an administrator may make in a day.
   */
  run<T>(entry: NewAuditEntry, work: () => Promise<T>, statusOf: (result: T) => number): Promise<T>;
  list(query: AuditQuery): Promise<AuditPage>;
}

interface Row {
  id: number;
  administrator: string;
  administratorName: string | null;
  action: AuditEntry['action'];
  site: string | null;
  app: string | null;
  block: string | null;
  requester: string;
  unsaved: string | null;
  status: number | null;
  times: number;
  // Drivers give big integers as texts.
  firstAt: number | string;
  lastAt: number | string;
}

/** @param now `Date.now()` milliseconds; for tests */
export function createAuditLog(strapi: Core.Strapi, now: () => number = Date.now): AuditLog {
  const rows = () => strapi.db.query(ENTRY);

  /** The entry of an equal one a short time ago. */
  const equalTo = async (data: ReturnType<typeof dataOf>): Promise<Row | null> => {
    if (!joinable.has(data.action)) return null;
    const [found]: Row[] = await rows().findMany({
      where: { ...data, firstAt: { $gt: now() - SAME } },
      orderBy: { id: 'desc' },
      limit: 1,
    });
    return found ?? null;
  };

  const prune = async (): Promise<void> => {
    const [last]: Row[] = await rows().findMany({
      orderBy: { id: 'desc' },
      offset: RETENTION.entries,
      limit: 1,
      select: ['id'],
    });
    if (last) await rows().deleteMany({ where: { id: { $lte: last.id } } });
    await rows().deleteMany({ where: { firstAt: { $lt: now() - RETENTION.time } } });
  };

  const begin = async (entry: NewAuditEntry): Promise<number> => {
    const data = dataOf(entry);
    const known = await equalTo(data);
    if (known) {
      const again = { times: known.times + 1, lastAt: now(), status: null };
      await rows().update({ where: { id: known.id }, data: again });
      return known.id;
    }
    const { administrator } = data;
    const made = await rows().count({ where: { administrator, firstAt: { $gt: now() - DAY } } });
    if (made >= MAX_PER_DAY) throw tooMany();
    const { id } = await rows().create({ data: { ...data, times: 1, firstAt: now(), lastAt: now() } });
    await prune();
    return id;
  };

  return {
    async run(entry, work, statusOf) {
      const id = await begin(entry);
      const end = (status: number) => rows().update({ where: { id }, data: { status } });
      try {
        const result = await work();
        await end(statusOf(result));
        return result;
      } catch (error) {
        await end(error instanceof AppsError ? error.status : 500);
        throw error;
      }
    },
    async list(query) {
      const found: Row[] = await rows().findMany({
        where: { $and: [...conditions(query), { firstAt: { $gte: now() - RETENTION.time } }] },
        orderBy: { id: 'desc' },
        limit: PAGE + 1,
      });
      const shown = found.slice(0, PAGE);
      return { entries: shown.map(entryOf), older: found.length > PAGE ? String(shown.at(-1)?.id) : null };
    },
  };
}

const tooMany = () =>
  new AppsError('RateLimitError', `The audit log takes ${MAX_PER_DAY} entries of an administrator in a day`, {
    headers: { 'Retry-After': '3600' },
  });

const cut = (text: string | null): string | null => text?.slice(0, MAX.name) ?? null;

function dataOf({ administrator, action, site, app, block, requester, unsaved }: NewAuditEntry) {
  // Whole paths only: the column is read as JSON.
  const paths = [...unsaved];
  while (JSON.stringify(paths).length > MAX.unsaved) paths.pop();
  return {
    administrator: administrator.identity,
    administratorName: cut(administrator.name),
    action,
    site: cut(site),
    app: cut(app),
    block: cut(block),
    requester: requester.slice(0, MAX.name),
    unsaved: JSON.stringify(paths),
  };
}

function conditions({ site, app, action, administrator, before }: AuditQuery): object[] {
  return [
    ...(site === undefined ? [] : [{ site }]),
    ...(app === undefined ? [] : [{ app }]),
    ...(action === undefined ? [] : [{ action }]),
    ...(administrator === undefined ? [] : [{ $or: [{ administrator }, { administratorName: administrator }] }]),
    ...(/^\d{1,9}$/.test(before ?? '') ? [{ id: { $lt: Number(before) } }] : []),
  ];
}

function entryOf(row: Row): AuditEntry {
  const { id, administrator, administratorName, action, site, app, block, requester, unsaved, status, times } = row;
  return {
    id: String(id),
    at: new Date(Number(row.firstAt)).toISOString(),
    lastAt: new Date(Number(row.lastAt)).toISOString(),
    times,
    administrator: { identity: administrator, name: administratorName },
    action,
    site,
    app,
    block,
    requester,
    status,
    unsaved: JSON.parse(unsaved ?? '[]') as string[],
  };
}
