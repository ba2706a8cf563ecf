import type { Awaitable } from '../../common/time/awaitable';
import type { KeyedMutex } from '../../common/time/mutex';
import type { Dialect, HostDatabase, Sql } from '../../database';
import type { Indexes } from '../../indexes';
import type { Claims } from '../commits/claims';
import type { Commits } from '../commits/commits';
import type { CommitRows, StoredRecord } from '../types';
import type { Entry } from './entries';
import type { Ranges } from './reads';

/** What a unit of work writes when it is committed, and what must hold then. */
export interface Part {
  /** Whether it has locked its records, for which other units of this process wait: they share its commit already. */
  readonly isAlone: boolean;
  /** The entries to write. */
  readonly pending: readonly Entry[];
  /** Apps in which no other transaction may write records meanwhile. */
  readonly alone: ReadonlySet<string>;
  /** What the unit has searched, which must be the same. */
  readonly ranges: Ranges;
  /** What must hold when it is written. */
  readonly claims: ReturnType<Claims['all']>;
  /** Whether its searches may run again while the apps are locked: another process commits without a pause. */
  readonly isInsistent: boolean;
  /** Ends the unit's part of the transaction: a CollisionError when a record has changed that the unit has read. */
  check(sql: Sql): Awaitable<void>;
  /** Rows of other tables. */
  readonly inserts: readonly CommitRows[];
  /** Called before COMMIT: from then on a failure is that of the commit, and final. */
  written(): void;
}

/** What all units of work of a store have in common. */
export interface UnitTools {
  database: HostDatabase;
  dialect: Dialect;
  indexes: Indexes;
  mutex: KeyedMutex;
  commits: Commits;
  /** Commits a unit that changes records alone. */
  commit(part: Part): Promise<void>;
  /** Reads a record by its hash outside any transaction, batched with concurrent reads. */
  loadRecord(hash: string): Promise<StoredRecord | undefined>;
  /** Receives the error of an effect that failed after the commit. */
  onError(error: unknown): void;
}
