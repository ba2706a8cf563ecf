import type { Rights } from '../../auth/types';
import { isUnconfirmed } from '../../indexes';
import type { Only, StoredRecord } from '../../records/types';
import type { App } from '../types';
import { ownsByLink } from './own-link';
import type { Run } from './types';

/** An app, and the rights of a requester in it. */
interface Viewer {
  app: Pick<App, 'confirms'>;
  rights: Pick<Rights, 'edit'>;
}

/**
 * Whether records that wait until they are confirmed are hidden from a requester: those who may change all records see them
 * (docs/decisions/confirmation.md).
 */
export const hidesUnconfirmed = ({ app, rights }: Viewer): boolean => app.confirms && !rights.edit(null);

/** What a search, a count or a list of a requester leaves out. */
export const confirmedOnly = (viewer: Viewer): { confirmed?: true } =>
  hidesUnconfirmed(viewer) ? { confirmed: true } : {};

/** Which records a page has, from what a search would leave out: undefined for all. */
export function onlyOf(
  { indexes }: Pick<App, 'indexes'>,
  wanted: Pick<Only, 'creator' | 'confirmed'>,
): Only | undefined {
  return Object.keys(wanted).length > 0 ? { ...wanted, indexes } : undefined;
}

/** The record; null where it is hidden from the requester. */
export function unlessHidden<T extends Pick<StoredRecord, 'items'>>(viewer: Viewer, record: T | null): T | null {
  return record && isUnconfirmed(record.items) && hidesUnconfirmed(viewer) ? null : record;
}

/**
 * The same for a run: a record that it is saving or deleting, and the one whose link it was opened by, are not hidden from it.
 * @param run of the record's app
 */
export function visibleIn(run: Run, record: StoredRecord | null): StoredRecord | null {
  if (!record || ownsByLink(run.visit, run.app.id, record.id)) return record;
  const address = `${run.app.id}\n${record.id}`;
  return run.saving.has(address) || run.deleting.has(address) ? record : unlessHidden(run, record);
}
