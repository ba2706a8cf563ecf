import type { AdminRouteEntry } from './permissions';
import type { RecordCreator } from './records';

const app = '/sites/:site/apps/:app';

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
