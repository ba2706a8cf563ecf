import { createHash } from 'node:crypto';
import type { App } from '../../types';
import type { Visit } from '../types';

/** Whether the records of each requester are counted in a block of the app. */
const countsRequesters = ({ blocks }: App): boolean =>
  [...blocks.values()].some(({ definition }) => (definition.places?.perRequester ?? null) !== null);

/**
 * Who makes a record: the requester's identity; of an anonymous visitor, where a block counts the records of each requester and the
 * app asks for visitors, a digest of their cookie, which nobody can turn into one. Null for others.
 */
export function makerOf({ visit, app }: { visit: Visit; app: App }): string | null {
  const { identity } = visit.requester;
  if (identity !== '') return identity;
  const id = app.settings.visitor && countsRequesters(app) ? (visit.visitor?.id() ?? null) : null;
  if (id === null) return null;
  const digest = createHash('sha256')
    .update(JSON.stringify([visit.site.id, id]))
    .digest('base64url');
  return `visitor:${digest.slice(0, 22)}`;
}
