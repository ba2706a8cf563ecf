import { createHash } from 'node:crypto';
import type { App } from '../types';
import type { Visit } from './types';

/** Who owns: a requester, and on a site the visitor whose cookie the browser has sent. */
export type OwnerVisit = Pick<Visit, 'requester' | 'visitor'> & { site: Pick<Visit['site'], 'id'> };

/**
 * The creator of the records that belong to the requester (docs/reference/rights.md#own-records): the requester's identity; of an
 * anonymous visitor of an app with `visitor: true` a digest of their cookie, from which no cookie can be made. '' for those who own
 * nothing: others, and visitors without a cookie. It is looked at only where something depends on it, because a kept rendering is then
 * this visitor's alone.
 */
export function ownerOf({ requester, site, visitor }: OwnerVisit, settings: Pick<App['settings'], 'visitor'>): string {
  if (requester.kind !== 'anonymous' || requester.identity !== '') return requester.identity;
  const id = settings.visitor ? (visitor?.id() ?? null) : null;
  if (id === null) return '';
  const digest = createHash('sha256')
    .update(JSON.stringify([site.id, id]))
    .digest('base64url');
  return `visitor:${digest.slice(0, 22)}`;
}

/**
 * Who makes a record in an app: its owner; null for none. Whose account is not known and who continues a draft makes it for the owner of
 * the draft, on any device (docs/decisions/drafts.md).
 */
export function makerOf({
  visit,
  app,
}: {
  visit: OwnerVisit & Pick<Visit, 'draft'>;
  app: Pick<App, 'id' | 'settings'>;
}): string | null {
  const isKnown = visit.requester.kind !== 'anonymous' || visit.requester.identity !== '';
  const owner = !isKnown && visit.draft?.app === app.id ? visit.draft.draft.owner : null;
  return owner ?? (ownerOf(visit, app.settings) || null);
}
