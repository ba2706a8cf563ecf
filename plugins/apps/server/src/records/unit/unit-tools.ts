import type { Dialect, HostDatabase, Indexes } from '../../indexes';
import type { Commits } from '../commits/commits';
import type { StoredRecord } from '../types';
import type { KeyedMutex } from './keyed-mutex';
import type { Part } from './shared-commits';

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
