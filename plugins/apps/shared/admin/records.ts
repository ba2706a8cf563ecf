import type { CellKind, Encoding, Separator } from '../cells';
import type { Items, Json } from '../json';
import type { AdminRouteEntry } from './permissions';

/** Below the app's path: an id may contain `/`, so that it is no part of a path. */
const app = '/sites/:site/apps/:app';

/** Routes of an app's records. */
export const recordRoutes = {
  /** query: RecordsQuery → RecordsPage; 400 for a bad query, with position and reason */
  records: { method: 'GET', path: `${app}/records`, needs: ['read', 'records'] },
  /** query: `{ id }` → RecordDetail; 404 */
  record: { method: 'GET', path: `${app}/record`, needs: ['read', 'records'] },
  /** RecordInput → 201 `{ id }`; 400, 409 for a taken id */
  createRecord: { method: 'POST', path: `${app}/record`, needs: ['records'] },
  /** query: `{ id }`, RecordChange → RecordDetail; items that are not named are removed; 404, 412 if it was changed meanwhile */
  updateRecord: { method: 'PUT', path: `${app}/record`, needs: ['records'] },
  /** query: `{ id, on_delete }`: the block's `on_delete` runs unless it is `false` → `{ success: 'deleted' }` */
  deleteRecord: { method: 'DELETE', path: `${app}/records`, needs: ['records'] },
  /** DeleteMany → Deleted: each record is deleted by itself */
  deleteRecords: { method: 'POST', path: `${app}/records/delete`, needs: ['records'] },
  /** query: `{ block, id? }` → RecordForm, the block's own form; 404 */
  recordForm: { method: 'GET', path: `${app}/form`, needs: ['records'] },
  /**
   * FormInput, with new files a form that has it as JSON in `options` and each file under the name of its field → FormOutcome; 400 ValidationError with `details.errors` and `details.html`, the form with its messages;
   * 413 for too large files, 415 for a field that takes none
   */
  submitForm: { method: 'POST', path: `${app}/form`, needs: ['records'] },
  /**
   * query: `{ id, thumbnail? }` → the bytes of a private file of the app, by its `documentId`; of one at the upload provider its signed
   * address as `text/uri-list`; 404
   */
  recordFile: { method: 'GET', path: `${app}/record/file`, needs: ['read', 'records'] },
  /** query: `{ id, link }`: ends a link of the record → `{ success: 'revoked' }`; 404 */
  revokeLink: { method: 'DELETE', path: `${app}/record/link`, needs: ['records'] },
  /** query: RecordsQuery and `{ format: 'csv' | 'xlsx' | 'ndjson', separator? }` → the file: all records, or those that the query finds */
  exportRecords: { method: 'GET', path: `${app}/records/export`, needs: ['read', 'records'] },
  /** a form with the file `files` and `options`, ImportOptions as JSON → ImportPreview: nothing is stored */
  previewImport: { method: 'POST', path: `${app}/records/import/preview`, needs: ['records'] },
  /** the same → 202 ImportState: all records are stored, or none; `importState` has its progress; 409 while one runs */
  importRecords: { method: 'POST', path: `${app}/records/import`, needs: ['records'] },
  /** query: `{ id? }` → ImportState of that import, or of the running one or the last one of this process; `none` where it knows none */
  importState: { method: 'GET', path: `${app}/records/import`, needs: ['records'] },
} as const satisfies Record<string, AdminRouteEntry>;

export interface RecordsQuery {
  /** A query (docs/reference/search.md#queries), or plain words, which all indexes are searched for; empty: all records. */
  query?: string;
  /** A `field` index, or a `text` index of the query. */
  sort?: string;
  reverse?: boolean;
  limit: number;
  offset: number;
}

export interface RecordsPage {
  records: RecordSummary[];
  total: number;
  /** The query that was run, if plain words were made into one. */
  query: string | null;
}

export interface RecordSummary {
  id: string;
  url: string;
  /** Null if anonymous. */
  creator: RecordCreator | null;
  items: Items;
}

export interface RecordCreator {
  identity: string;
  name: string;
  /** Path of the panel's page about the account; null if it is gone. */
  path: string | null;
}

export interface RecordDetail extends RecordSummary {
  version: string;
  /** The block whose form changes the record; null: as JSON only. */
  form: string | null;
  /** Signed links by which the record can be opened without an account, the oldest first; their tokens are not known. */
  links: RecordLink[];
}

export interface RecordLink {
  id: string;
  /** Whether it opens the record, or confirms the address in it. */
  purpose: 'mine' | 'confirm';
  /** In ISO 8601. */
  madeAt: string;
}

export interface RecordInput {
  /** Empty or missing: the service makes one. */
  id?: string;
  items: Items;
}

export interface RecordChange {
  /** All items that the record will have; those of a computed mode are computed again. */
  items: Items;
  /** The version that was read. */
  version: string;
}

export interface DeleteMany {
  /** 500 at most. */
  ids: string[];
  onDelete: boolean;
}

export interface Deleted {
  deleted: number;
  failed: { id: string; message: string }[];
}

export interface RecordForm {
  /** A `<form>`; its scripts must not run. */
  html: string;
  block: string;
}

export interface FormInput {
  block: string;
  id?: string;
  /** As a browser sends them, with the name of the pressed button. */
  fields: Record<string, string | string[]>;
}

export type FormOutcome = { kind: 'saved' | 'deleted'; id: string } | ({ kind: 'shown' } & RecordForm);

/** What is left out is found in the file. */
export interface ImportOptions {
  /** Name of the file; `.csv` and `.tsv` are CSV, `.xlsx` is XLSX, others are NDJSON. */
  name: string;
  /** Item names by columns; null leaves a column out, one without an entry becomes the item that its heading names. */
  mapping: Record<string, string | null>;
  separator?: Separator;
  encoding?: Encoding;
  /** A BCP 47 tag: how numbers and dates are written. */
  language?: string;
  /** The block of records that name none. */
  block?: string;
  /** A sheet of a workbook. */
  sheet?: string;
}

export interface ImportPreview {
  format: 'csv' | 'xlsx' | 'ndjson';
  /** How a table is written; null for other files. */
  separator: Separator | null;
  encoding: Encoding | null;
  /** Names of a workbook's sheets with cells. */
  sheets: string[];
  /** Records that can be stored. */
  records: number;
  /** `item`: what it becomes; null: nothing. `kind`: how its cells are read; null for NDJSON, and where it is left out. */
  columns: { name: string; example: string; item: string | null; kind: CellKind | null }[];
  /** The first records as they would be stored. */
  first: { id: string | null; items: Items }[];
  /** The first mistakes; an import with mistakes is refused. */
  problems: { line: number; message: string }[];
  /** All mistakes. */
  wrong: number;
}

export interface ImportState {
  /** Null where the state is `none`. */
  id: string | null;
  state: 'none' | 'running' | 'done' | 'failed';
  done: number;
  total: number;
  message: string | null;
  /** Line of the file at which it failed. */
  line: number | null;
}

/** Routes of the drafts of an app's forms. Only the holders of their links see what was entered in them. */
export const draftRoutes = {
  /** → DraftList, the latest first */
  drafts: { method: 'GET', path: `${app}/drafts`, needs: ['read', 'records'] },
  /** query: `{ id }`: ends a draft with its files and its link → `{ success: 'deleted' }`; 404 */
  deleteDraft: { method: 'DELETE', path: `${app}/drafts`, needs: ['records'] },
} as const satisfies Record<string, AdminRouteEntry>;

export interface DraftList {
  drafts: DraftSummary[];
  /** How many there are; the list has the latest. */
  total: number;
}

export interface DraftSummary {
  id: string;
  block: string;
  /** Whose account it is; null: not known. */
  owner: RecordCreator | null;
  /** In ISO 8601. */
  savedAt: string;
  endsAt: string;
  /** With its files. */
  bytes: number;
}

const place = '/sites/:site/apps/:app/history';

/** Routes of the history of an app's records; 404 where the app keeps none. */
export const historyRoutes = {
  /** query: HistoryQuery → HistoryList, the latest changes first */
  history: { method: 'GET', path: place, needs: ['read', 'records'] },
  /** RestoreInput → `{ created }`, whether a deleted record was created again; 404, and the errors of a change */
  restoreVersion: { method: 'POST', path: `${place}/restore`, needs: ['records'] },
  /** query: UndoQuery → UndoPlan: what `undo` would do; nothing is stored */
  undoPlan: { method: 'GET', path: `${place}/undo`, needs: ['records'] },
  /** UndoQuery with the `version` of the plan → UndoPlan as it was done, all or nothing; 409 where the requester has gone on */
  undo: { method: 'POST', path: `${place}/undo`, needs: ['records'] },
} as const satisfies Record<string, AdminRouteEntry>;

export interface HistoryQuery {
  /** Of one record. */
  id?: string;
  /** Of one requester: `RecordCreator.identity`, or `anonymous`. */
  requester?: string;
  /** Not before this time, as ISO 8601. */
  since?: string;
  /** `HistoryList.older` of the page before. */
  before?: string;
}

export interface HistoryList {
  changes: HistoryChange[];
  /** For the next page; null at the end. */
  older: string | null;
}

/** Who has changed something; null: anonymous. */
export interface HistoryAuthor {
  at: string;
  by: RecordCreator | null;
  through: string;
}

export interface HistoryChange extends HistoryAuthor {
  version: number;
  /** The record's id. */
  id: string;
  event: 'create' | 'update' | 'delete';
  /** Items that were changed; absent values were not there. */
  items: { name: string; before?: Json; after?: Json }[];
}

export interface RestoreInput {
  id: string;
  version: number;
}

export interface UndoQuery {
  /** As of HistoryQuery. */
  requester: string;
  since: string;
}

export interface UndoPlan {
  /** The newest change that is undone; null where there is none. */
  version: number | null;
  records: UndoRecord[];
}

export interface UndoRecord {
  id: string;
  /** `kept`: others have changed what would be undone. */
  does: 'deleted' | 'created' | 'changed' | 'kept';
  /** Items that get the values from before. */
  items: string[];
  /** What others have changed since, with the names of the items, which stay. */
  later: (HistoryAuthor & { items: string[] })[];
}

/** Routes of the columns that the administrator has chosen for an app's records. */
export const columnRoutes = {
  /** → KeptColumns */
  columns: { method: 'GET', path: '/sites/:site/apps/:app/columns', needs: ['read', 'records'] },
  /** KeptColumns → KeptColumns; 400 for another shape, or above 200 names of 255 characters */
  setColumns: { method: 'PUT', path: '/sites/:site/apps/:app/columns', needs: ['read', 'records'] },
} as const satisfies Record<string, AdminRouteEntry>;

export interface KeptColumns {
  /** Names of items; null: the usual columns. */
  columns: string[] | null;
}

/** What the values of an element type are, where the panel shows them or filters by them in a way of their own. */
export type ValueKind = 'number' | 'boolean' | 'date' | 'datetime' | 'link';

/** Element types by name, as a column of the panel has it; a test compares them with the server's table of element types. */
export const valueKinds: Readonly<Record<string, ValueKind>> = {
  NUMBER: 'number',
  BOOLEAN: 'boolean',
  DATE: 'date',
  DATETIME: 'datetime',
  URL: 'link',
};
