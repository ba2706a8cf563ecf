import type { Items } from '../../../../shared/json';
import type { RecordWrite } from '../../indexes';

/** What a transaction has changed, by scope; `null`: more records than are named. */
export type Changes = ReadonlyMap<string, readonly RecordWrite[] | null>;

/** Records of one transaction that are named, and records and characters of their items that the log keeps. */
const MAX_NAMED = 1_000;
const MAX_RECORDS = 5_000;
const MAX_TEXT = 16 * 1024 * 1024;

interface Entry {
  changes: Changes;
  records: number;
  text: number;
  /** Resolves when the transaction has ended. Until then its COMMIT may be under way: a read may see it or not. */
  ended: Promise<void>;
  isOpen: boolean;
}

/** A reader of the log: entries that it needs are kept until it ends. */
export interface Watch {
  /** The position from which changes may be missing in what it has read first. */
  readonly from: number;
  end(): void;
}

/**
 * The changes of records that this process has committed lately, in order, for units of work that have searched: see
 * docs/decisions/serialisable.md. It keeps nothing while no unit needs it.
 */
export class CommitLog {
  private entries: Entry[] = [];
  /** The position of the first entry. */
  private first = 0;
  private records = 0;
  private text = 0;
  private readonly watches = new Set<Watch>();

  /**
   * Appends the changes of a transaction that is about to be committed. The returned function must be called when the
   * transaction has ended; one that was rolled back counts as committed, which costs another attempt at most.
   */
  append(changes: Changes): () => void {
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const entry: Entry = { ...measured(changes), ended, isOpen: true };
    this.entries.push(entry);
    this.records += entry.records;
    this.text += entry.text;
    return () => {
      entry.isOpen = false;
      this.trim();
      end();
    };
  }

  /** The position for a read that begins now: it may miss the changes from there on. */
  position(): number {
    const open = this.entries.findIndex((entry) => entry.isOpen);
    return this.first + (open < 0 ? this.entries.length : open);
  }

  /** Resolves when all transactions have ended that are being committed now. */
  async settled(): Promise<void> {
    await Promise.all(this.entries.map(({ ended }) => ended));
  }

  watch(): Watch {
    const watch: Watch = {
      from: this.position(),
      end: () => {
        this.watches.delete(watch);
        this.trim();
      },
    };
    this.watches.add(watch);
    return watch;
  }

  /** The changes of an app from a position on, and their size; null when the log does not know all of them. */
  since(position: number, scope: string): { writes: RecordWrite[]; text: number } | null {
    if (position < this.first) return null;
    const found: RecordWrite[] = [];
    let text = 0;
    for (const entry of this.entries.slice(position - this.first)) {
      const writes = entry.changes.get(scope);
      if (writes === null) return null;
      if (!writes) continue;
      found.push(...writes);
      text += entry.text;
    }
    return { writes: found, text };
  }

  private trim(): void {
    let needed = this.first + this.entries.length;
    for (const { from } of this.watches) needed = Math.min(needed, from);
    let count = 0;
    for (const entry of this.entries) {
      const isFull = this.records > MAX_RECORDS || this.text > MAX_TEXT;
      if (entry.isOpen || (this.first + count >= needed && !isFull)) break;
      this.records -= entry.records;
      this.text -= entry.text;
      count += 1;
    }
    this.entries.splice(0, count);
    this.first += count;
  }
}

/** Changes with the number of their records and the characters of their items. */
function measured(changes: Changes): Pick<Entry, 'changes' | 'records' | 'text'> {
  const kept = new Map<string, readonly RecordWrite[] | null>();
  let [records, text] = [0, 0];
  for (const [scope, writes] of changes) {
    const isNamed = writes !== null && writes.length <= MAX_NAMED;
    kept.set(scope, isNamed ? writes : null);
    if (!isNamed) continue;
    records += writes.length;
    text += sizeOf(writes);
  }
  return { changes: kept, records, text };
}

/** About the characters of the records before and after. */
export const sizeOf = (writes: readonly RecordWrite[]): number =>
  writes.reduce((sum, { before, after }) => sum + textOf(before?.items) + textOf(after?.items), 0);

function textOf(items: Items = {}): number {
  let text = 100;
  for (const value of Object.values(items)) {
    if (typeof value === 'string') text += value.length;
    else text += typeof value === 'object' && value !== null ? JSON.stringify(value).length : 10;
  }
  return text;
}
