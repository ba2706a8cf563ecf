import { createHash } from 'node:crypto';
import { coalesceReads } from '../../common/time/coalesce';
import type { RecordWrite } from '../../indexes';
import { type Commits, EVERY } from './commits';
import { type Position, type RangeCondition, touches } from './log';

/** What was read of one app: records by id, and by conditions. */
export interface ScopeReads {
  readonly ids: ReadonlySet<string>;
  readonly ranges: readonly RangeCondition[];
}

/** What was read, by scope; `any`: everything of the scope counts. */
export type UnitReads = ReadonlyMap<string, ScopeReads | 'any'>;

/** A moment before something is read. */
export interface ReadMark {
  readonly since: Position;
  /** The commits of other processes until then, of all and of some scopes. */
  readonly every: string | undefined;
  readonly counts: ReadonlyMap<string, string | undefined>;
}

/** All commits that are known of at a moment: those of this process, and those of others as `refresh` has last seen them. */
export interface KnownCommits {
  readonly own: number;
  readonly others: string;
}

/** Reads whose result is kept. */
export interface KeptReads {
  readonly reads: UnitReads;
  readonly counts: ReadonlyMap<string, string>;
  since: Position;
}

/** Says whether what was read once would be read again: see docs/decisions/exact-renderings.md. */
export interface Dependencies {
  /** Learns what other processes have committed until now. One small statement where others may write. */
  refresh(): Promise<void>;
  /** The moment before reads, as far as `refresh` has last seen it. */
  mark(): ReadMark;
  /** The same with the commits of other processes to some scopes: keeps more where others write much elsewhere. */
  counted(mark: ReadMark, scopes: Iterable<string>): Promise<ReadMark>;
  /** Keeps what was read since `mark`; null when another process may have changed it meanwhile. */
  keep(mark: ReadMark, reads: UnitReads): Promise<KeptReads | null>;
  /** Whether nothing of it has changed until the last `refresh`, nor in this process until now. False when that is not known. */
  holds(kept: KeptReads): Promise<boolean>;
  /** The commits that are known of now; null while those of other processes are not known. */
  commits(): KnownCommits | null;
  /** Whether none was added: what held then holds now. */
  isUnchanged(since: KnownCommits | null): boolean;
  /** Notes that content of Strapi was changed, in its current transaction if there is one. */
  noteContent(uids: readonly string[]): Promise<void>;
}

/** The scope of a content type. */
export const contentScope = (uid: string): string =>
  `content:${createHash('sha1').update(uid).digest('base64url').slice(0, 27)}`;

/** Characters of changed records that are compared with what was read, counted for each condition. */
const MAX_TESTED = 250_000;

export function createDependencies({ log, counts, note }: Commits): Dependencies {
  const refresh = coalesceReads(
    () => counts.refresh(),
    () => false,
  );

  /** The count of each scope, looked up where it is not known. */
  const countsOf = async (scopes: readonly string[]): Promise<Map<string, string | undefined>> => {
    const known = new Map(scopes.map((scope) => [scope, counts.known(scope)]));
    const missing = scopes.filter((scope) => known.get(scope) === undefined);
    if (missing.length > 0) for (const [scope, text] of await counts.look(missing)) known.set(scope, text);
    return known;
  };

  const others = () => (counts.isCertain() ? counts.known(EVERY) : undefined);

  return {
    refresh: async () => {
      if (!counts.isFresh()) await refresh('');
    },

    mark() {
      log.retain();
      return { every: others(), counts: new Map(), since: log.position() };
    },

    async counted(mark, scopes) {
      return counts.isCertain() ? { ...mark, counts: await countsOf([...scopes]) } : mark;
    },

    async keep({ since, every, counts: before }, reads) {
      const scopes = [...reads.keys()];
      const now = await counts.look([...scopes, EVERY]);
      const isSame = (scope: string) => before.get(scope) !== undefined && before.get(scope) === now.get(scope);
      if (!counts.isCertain()) return null;
      if ((every === undefined || now.get(EVERY) !== every) && !scopes.every(isSame)) return null;
      return { reads, since, counts: new Map(scopes.map((scope) => [scope, now.get(scope) ?? ''])) };
    },

    async holds(kept) {
      if (!counts.isCertain()) return false;
      const now = await countsOf([...kept.reads.keys()]);
      const position = log.position();
      for (const [scope, reads] of kept.reads) {
        if (kept.counts.get(scope) !== now.get(scope)) return false;
        if (log.isQuiet(kept.since, scope)) continue;
        const conditions = reads === 'any' ? 1 : reads.ranges.length + 1;
        const changes = log.since(kept.since, scope, MAX_TESTED / conditions, () => false);
        if (!changes || changes.writes.some((write) => isTouched(reads, write))) return false;
      }
      kept.since = position;
      return true;
    },

    commits() {
      const known = others();
      return known === undefined ? null : { own: log.end(), others: known };
    },
    isUnchanged: (since) => since !== null && since.own === log.end() && since.others === others(),

    noteContent: (uids) => note(uids.map(contentScope)),
  };
}

function isTouched(reads: ScopeReads | 'any', write: RecordWrite): boolean {
  if (reads === 'any') return true;
  const { before, after } = write;
  if ((before && reads.ids.has(before.id)) || (after && reads.ids.has(after.id))) return true;
  return reads.ranges.some((range) => touches(range, write));
}
