import type { Items, Json } from '../../../../shared/json';
import type { RecordWrite } from '../../indexes';

/** What a transaction has changed, by scope; `null`: more records than are named. */
export type Changes = ReadonlyMap<string, readonly RecordWrite[] | null>;

/** What is read by a condition instead of by ids. */
export interface RangeCondition {
  /** Whether a record belongs to it; `seq` 0: one that is not stored yet. */
  has(record: NonNullable<RecordWrite['after']>): boolean;
  /** Whether only the number of records counts. */
  isCount: boolean;
}

/** Whether what is read by a condition may be another after the write. */
export function touches({ has, isCount }: RangeCondition, { before, after }: RecordWrite): boolean {
  const [was, is] = [before !== null && has(before), after !== null && has(after)];
  return isCount ? was !== is : was || is;
}

/** Records of one transaction that are named, and records and characters of their items that the log keeps. */
const MAX_NAMED = 1_000;
const MAX_RECORDS = 5_000;
const MAX_TEXT = 16 * 1024 * 1024;

/** The same for a log whose changes are compared with what was read long ago. */
const RETAINED_RECORDS = 1_000;
const RETAINED_TEXT = 4 * 1024 * 1024;

/** Apps whose last change is remembered. */
const MAX_SCOPES = 10_000;

interface Entry {
  changes: Changes;
  records: number;
  text: number;
  /** Resolves when the transaction has ended. Until then its COMMIT may be under way: a read may see it or not. */
  ended: Promise<void>;
  /** The transaction of other code that the changes are part of. */
  outer: object | undefined;
}

/** What a read that began at this moment may not have seen. */
export interface Position {
  /** Changes from here on in the log. */
  readonly from: number;
  /** Those of transactions that were being committed then. */
  readonly open: readonly Pick<Entry, 'changes' | 'text' | 'outer'>[];
}

/** A reader of the log: entries that it needs are kept until it ends. */
interface Watch {
  readonly from: number;
}

/**
 * The changes of records that this process has committed lately, in order, for units of work that have searched: see
 * docs/decisions/serialisable.md. It keeps nothing while no unit needs it.
 */
export class CommitLog {
  private entries: Entry[] = [];
  /** The entries of each app, with their positions: a unit with a thousand searches asks for its app's changes a thousand times. */
  private readonly byScope = new Map<string, { at: number; entry: Entry }[]>();
  /** The position of the first entry. */
  private first = 0;
  private records = 0;
  private text = 0;
  private readonly watches = new Set<Watch>();
  /** Of transactions that are being committed: those of other code may take long, and count for every read that begins meanwhile. */
  private readonly open = new Set<Entry>();
  private openRecords = 0;
  private openText = 0;
  private retains = false;
  /** The position of the last change of each app; of one that is not among them it is before `floor`. */
  private readonly changed = new Map<string, number>();
  private floor = 0;

  /**
   * Appends the changes of a transaction that is about to be committed. The returned function must be called when the
   * transaction has ended; one that was rolled back counts as committed, which costs another attempt at most.
   * @param outer the transaction of other code that they are part of
   */
  append(changes: Changes, outer?: object): () => void {
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const isFull = this.openRecords > MAX_RECORDS || this.openText > MAX_TEXT;
    const entry: Entry = { ...measured(isFull ? unnamed(changes) : changes), ended, outer };
    const at = this.end();
    if (this.changed.size > MAX_SCOPES) {
      this.changed.clear();
      this.floor = at;
    }
    for (const scope of changes.keys()) {
      this.changed.set(scope, at);
      const known = this.byScope.get(scope);
      if (known) known.push({ at, entry });
      else this.byScope.set(scope, [{ at, entry }]);
    }
    this.open.add(entry);
    this.openRecords += entry.records;
    this.openText += entry.text;
    this.entries.push(entry);
    this.records += entry.records;
    this.text += entry.text;
    this.trim();
    return () => {
      this.open.delete(entry);
      this.openRecords -= entry.records;
      this.openText -= entry.text;
      this.trim();
      end();
    };
  }

  /** For a read that begins now. */
  position(): Position {
    return { from: this.end(), open: [...this.open] };
  }

  /** The position of the next entry: the number of all changes so far. */
  end(): number {
    return this.first + this.entries.length;
  }

  /** Keeps the latest changes from now on, for reads whose results are kept. */
  retain(): void {
    this.retains = true;
  }

  /** Whether no transaction has changed the app that a read at the position may not have seen. */
  isQuiet({ from, open }: Position, scope: string): boolean {
    return this.lastChange(scope) < from && !open.some(({ changes }) => changes.has(scope));
  }

  /** Resolves when all transactions have ended that are being committed now. */
  async settled(): Promise<void> {
    await Promise.all([...this.open].map(({ ended }) => ended));
  }

  /** Keeps the changes from now on, until the returned function is called. */
  watch(): () => void {
    const watch: Watch = { from: this.end() };
    this.watches.add(watch);
    return () => {
      this.watches.delete(watch);
      this.trim();
    };
  }

  /**
   * The changes of an app that a read at the position may not have seen, and their size; null when the log does not know all of them,
   * or they have more than `maxText` characters.
   * @param own whether a transaction is the reader's own: hooks of the host may write records in it
   */
  since(
    { from, open }: Position,
    scope: string,
    maxText: number,
    own: (outer: object) => boolean,
  ): { writes: RecordWrite[]; text: number } | null {
    // Entries that are gone may be those of other apps.
    if (from < this.first && this.lastChange(scope) >= from) return null;
    const found: RecordWrite[] = [];
    let text = 0;
    for (const entry of this.entriesSince(from, open, scope)) {
      const writes = entry.changes.get(scope);
      if (writes === undefined || (entry.outer && own(entry.outer))) continue;
      text += entry.text;
      if (writes === null || text > maxText) return null;
      found.push(...writes);
    }
    return { writes: found, text };
  }

  /** The open entries, and those of an app from a position on, the newest first. */
  private *entriesSince(from: number, open: Position['open'], scope: string): Iterable<Position['open'][number]> {
    yield* open;
    const list = this.byScope.get(scope) ?? [];
    for (let index = list.length - 1; index >= 0; index -= 1) {
      const { at, entry } = list[index] as { at: number; entry: Entry };
      if (at < from) return;
      yield entry;
    }
  }

  /** The position of the last change of an app, or a later one. */
  private lastChange(scope: string): number {
    return this.changed.get(scope) ?? this.floor - 1;
  }

  private trim(): void {
    let needed = this.end();
    for (const { from } of this.watches) needed = Math.min(needed, from);
    let count = 0;
    for (const entry of this.entries) {
      const isFull = this.records > MAX_RECORDS || this.text > MAX_TEXT;
      const isRetained = this.retains && this.records <= RETAINED_RECORDS && this.text <= RETAINED_TEXT;
      if ((this.first + count >= needed || isRetained) && !isFull) break;
      this.records -= entry.records;
      this.text -= entry.text;
      count += 1;
    }
    for (const { changes } of this.entries.splice(0, count)) {
      for (const scope of changes.keys()) {
        const known = this.byScope.get(scope);
        known?.shift();
        if (known?.length === 0) this.byScope.delete(scope);
      }
    }
    this.first += count;
  }
}

const unnamed = (changes: Changes): Changes => new Map([...changes.keys()].map((scope) => [scope, null]));

/** Changes with the number of their records and the characters of their items. */
function measured(changes: Changes): Pick<Entry, 'changes' | 'records' | 'text'> {
  const kept = new Map<string, readonly RecordWrite[] | null>();
  let [records, text] = [0, 0];
  for (const [scope, writes] of changes) {
    const isNamed = writes !== null && writes.length <= MAX_NAMED;
    kept.set(scope, isNamed ? writes : null);
    // Also the number of entries is bounded.
    records += isNamed ? Math.max(1, writes.length) : 1;
    if (!isNamed) continue;
    text += sizeOf(writes);
  }
  return { changes: kept, records, text };
}

/** About the characters of the records before and after. */
export const sizeOf = (writes: readonly RecordWrite[]): number =>
  writes.reduce((sum, { before, after }) => sum + textOf(before?.items) + textOf(after?.items), 0);

const textOf = (items: Items = {}): number =>
  Object.values(items).reduce<number>((sum, item) => sum + lengthOf(item), 100);

/** Without the text itself: every commit of records counts it. */
function lengthOf(value: Json): number {
  if (typeof value === 'string') return value.length + 10;
  if (typeof value !== 'object' || value === null) return 10;
  let length = 10;
  for (const part of Object.values(value)) length += lengthOf(part as Json);
  return length;
}

/** The unit of work collided with another: nothing of it is written, and it may run again from the start. Never shown to a client. */
export class CollisionError extends Error {
  /** `keys`: hashes of the records on which they collided, as far as known. */
  constructor(
    readonly keys: readonly string[] = [],
    cause?: unknown,
  ) {
    super('a record has been changed meanwhile', { cause });
  }
}
