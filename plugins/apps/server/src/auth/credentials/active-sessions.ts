import type { Core } from '@strapi/strapi';
import { createTables, type RunStatement } from '../rights/permissions';

const SESSION = 'admin::session';

/**
 * Whether a session of Strapi's session manager has neither ended nor expired: what its `isSessionActive` answers.
 * @param origin whose sessions: `users-permissions`, or `admin`
 */
export type IsSessionActive = (origin: string, id: string) => Promise<boolean>;

export function createActiveSessions(strapi: Core.Strapi, run: RunStatement): IsSessionActive {
  const { tableOf, columnOf, statement } = createTables(strapi, run);
  const column = (attribute: string) => columnOf(SESSION, attribute);
  const active = statement<object>(
    () => tableOf(SESSION),
    (query, value) =>
      query
        .where({ [column('sessionId')]: value(0), [column('origin')]: value(1) })
        .where(column('expiresAt'), '>', value(2))
        .select('id')
        .limit(1),
  );
  return async (origin, id) => (await active(id, origin, new Date())).length > 0;
}
