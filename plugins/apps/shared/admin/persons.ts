import type { Items } from '../json';
import type { AdminRouteEntry } from './permissions';

/** Routes of what is stored of a person. The person is in the body, or in a header: an address must not come into logs of requests. */
export const personRoutes = {
  /** PersonQuery → FoundPerson; 404 for a user that there is not */
  findPerson: { method: 'POST', path: '/persons/find', needs: ['persons'] },
  /** The header PERSON_HEADER → a ZIP; 404 as above. Strapi's client reads files from GET requests only */
  exportPerson: { method: 'GET', path: '/persons/export', needs: ['persons'] },
  /** PersonQuery → ErasedPerson; sent again until it is `done`; 404 as above */
  erasePerson: { method: 'POST', path: '/persons/erase', needs: ['persons'] },
} as const satisfies Record<string, AdminRouteEntry>;

/** The header with who is exported, percent-encoded. */
export const PERSON_HEADER = 'x-apps-person';

/** An e-mail address, or a user: the username, or `user:<document id>`. */
export interface PersonQuery {
  who: string;
}

/** Where something of a person is stored. */
export const personKinds = [
  'records',
  'drafts',
  'files',
  'history',
  'mails',
  'jobs',
  'runs',
  'answers',
  'audit',
] as const;

export type PersonKind = (typeof personKinds)[number];

/**
 * What erasing does: `delete`: it goes; `anonymize`: the items that the definition names go, and whose it was; `change`: what is about
 * the person goes out of it; `name`: who has done it is no longer said.
 */
export type ErasureEffect = 'delete' | 'anonymize' | 'change' | 'name';

/** What is stored in one place of an app, and what erasing does to it. */
export interface PersonGroup {
  kind: PersonKind;
  site: string | null;
  app: string | null;
  does: ErasureEffect;
  count: number;
}

/** One thing that is stored of a person. */
export interface PersonEntry {
  kind: PersonKind;
  site: string | null;
  app: string | null;
  /** The id of a record, the name of a file, or what else names it. */
  id: string;
  /** ISO 8601: when it was stored; null where that is not known. */
  at: string | null;
  does: ErasureEffect;
  /** Names of the items that go; of a deletion none. */
  items: string[];
}

/** Whose data it is. */
export interface PersonName {
  address: string | null;
  /** The account of users-permissions; it stays. */
  user: { identity: string; name: string } | null;
}

export interface FoundPerson extends PersonName {
  groups: PersonGroup[];
  /** The first of each kind, at most 100 together. */
  entries: PersonEntry[];
}

export interface ErasedPerson {
  /** What was erased by this request. */
  groups: PersonGroup[];
  /** False: there is more, and the request is to be sent again. */
  done: boolean;
  /** What could not be erased. */
  failed: { kind: PersonKind; app: string | null; id: string; message: string }[];
}

/** An entry with its data, as an export has it. */
export interface ExportedEntry extends PersonEntry {
  data: Items;
  /** Paths of files in the ZIP. */
  files: string[];
}
