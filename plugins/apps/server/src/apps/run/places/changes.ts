import { provenance, type Through } from '../../../records';
import type { AppKey, Items, StoredRecord, UnitObserver } from '../../../records/types';

/** A record as a request found it, and as it has changed it; null where there is none. */
export interface PlaceChange {
  key: AppKey;
  id: string;
  creator: string | null;
  before: Items | null;
  after: Items | null;
  /** Through what its state was changed, or it was made, last. */
  movedBy?: Through | undefined;
  /** Through what it came into its block. */
  enteredBy?: Through | undefined;
  /** Through what it was changed. */
  ways: ReadonlySet<Through | undefined>;
}

/**
 * What dropped runs have added to places, by their names: the next one counts on. A file that is checked in parts must not have more
 * records than there are places.
 */
export type PlaceTally = Map<string, number>;

/** The records that an attempt at a request has changed and whose places are not settled yet, and what it has counted. */
export class PlaceChanges {
  private changed = new Map<string, PlaceChange>();
  /** Records that the server itself is changing. */
  private readonly ofServer = new Set<string>();
  /** Records of places as last committed, by app and place: each is counted once. */
  readonly counted = new Map<string, number>();
  /** Ids of the records that it has put on a waiting list. */
  readonly joined = new Set<string>();
  /** Ids of deleted records that are created again, in the state that they had. */
  readonly restored = new Set<string>();
  /** Ids of the records whose confirmation the server itself changes. */
  readonly byServer = new Set<string>();
  /** What this attempt adds to them. */
  readonly added: PlaceTally;

  /** @param earlier what earlier runs have added without storing it */
  constructor(earlier: PlaceTally | undefined) {
    this.added = new Map(earlier);
  }

  readonly observer: UnitObserver = {
    onItems: (key, before, after, { id, creator }) => this.note({ key, id, creator, before, after }),
    onRename: (key, from, to) => {
      const known = this.changed.get(addressOf(key, from));
      if (!known) return;
      this.changed.delete(addressOf(key, from));
      this.changed.set(addressOf(key, to), { ...known, id: to });
    },
  };

  private note(change: Omit<PlaceChange, 'ways'>): void {
    const address = addressOf(change.key, change.id);
    if (this.ofServer.has(address)) return;
    const known = this.changed.get(address);
    const isMoved = change.before === null || change.before.state !== change.after?.state;
    const changedBy = provenance()?.through;
    const movedBy = isMoved ? changedBy : known?.movedBy;
    const isNew = change.before === null || change.before.block !== change.after?.block;
    const enteredBy = isNew ? changedBy : known?.enteredBy;
    const before = known ? known.before : change.before;
    const ways = new Set([...(known?.ways ?? []), changedBy]);
    const { key, id, creator, after } = change;
    this.changed.set(address, { key, id, creator, before, after, movedBy, enteredBy, ways });
  }

  /** The changes since the last call, in order. */
  take(): PlaceChange[] {
    const taken = [...this.changed.values()];
    this.changed = new Map();
    return taken;
  }

  /** Runs a change of a record by the server itself, which is settled already. */
  async own({ key, id }: Pick<PlaceChange, 'key' | 'id'>, work: () => Promise<StoredRecord>): Promise<StoredRecord> {
    const address = addressOf(key, id);
    this.ofServer.add(address);
    try {
      return await work();
    } finally {
      this.ofServer.delete(address);
    }
  }
}

const addressOf = ({ site, app }: AppKey, id: string): string => JSON.stringify([site, app, id]);
