import type { ExportedEntry, PersonName } from '../../../shared/admin-api';
import type { AppServices } from '../apps';
import type { App } from '../apps/types';
import type { Requesters } from '../auth';
import type { Awaitable } from '../common/time/awaitable';
import type { AppKey } from '../records/types';
import type { AddressSearch } from './address';

/** The services that work on what is stored of persons uses. */
export type PersonServices = AppServices & { requesters: Pick<Requesters, 'anonymous' | 'csrf'> };

/** A person who is looked for. */
export interface Person extends PersonName {
  /** How the address is found; null: only the user is. */
  search: AddressSearch | null;
}

/** Something that is stored of a person. */
export interface Stored extends ExportedEntry {
  /** The row that it is, of the source's table. */
  row: number;
  /** What the items are called for people, by their names. */
  labels: Readonly<Record<string, string>>;
  /** The files that go into an export, by their paths in it. */
  contents: readonly { documentId: string; path: string }[];
}

/** A place where something of persons is stored: a row of the table of sources (sources.ts). */
export interface PersonSource {
  /** All of a person, in batches of bounded size. */
  find(person: Person): AsyncIterable<Stored[]>;
  /** Erases one entry; false where it was gone. What else must go with it goes too. */
  erase(person: Person, entry: Stored): Promise<boolean>;
}

/** Finds the app of a key, by its files of now; null where there is none. */
export type LoadKeyed = (key: AppKey) => Awaitable<App | null>;
