import type { Json } from '../json';
import type { AdminRouteEntry } from './permissions';
import type { RecordCreator } from './records';

const app = '/sites/:site/apps/:app/history';

/** Routes of the history of an app's records; 404 where the app keeps none. */
export const historyRoutes = {
  /** query: HistoryQuery → HistoryList, the latest changes first */
  history: { method: 'GET', path: app, needs: ['read', 'records'] },
  /** RestoreInput → `{ created }`, whether a deleted record was created again; 404, and the errors of a change */
  restoreVersion: { method: 'POST', path: `${app}/restore`, needs: ['records'] },
  /** query: UndoQuery → UndoPlan: what `undo` would do; nothing is stored */
  undoPlan: { method: 'GET', path: `${app}/undo`, needs: ['records'] },
  /** UndoQuery with the `version` of the plan → UndoPlan as it was done, all or nothing; 409 where the requester has gone on */
  undo: { method: 'POST', path: `${app}/undo`, needs: ['records'] },
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
