import type { Core } from '@strapi/strapi';
import { createTables } from '../rights/tables';

const SESSION = 'admin::session';

/**
 * Whether a session of Strapi's session manager has neither ended nor expired: what its `isSessionActive` answers.
 * @param origin whose sessions: `users-permissions`, or `admin`
 */
export type IsSessionActive = (origin: string, id: string) => Promise<boolean>;

export function createActiveSessions(strapi: Core.Strapi): IsSessionActive {
  const { tableOf, columnOf, ask } = createTables(strapi);
  return async (origin, id) => {
    const column = (attribute: string) => columnOf(SESSION, attribute);
    const found = await ask<object>(tableOf(SESSION), (query) =>
      query
        .where({ [column('sessionId')]: id, [column('origin')]: origin })
        .where(column('expiresAt'), '>', new Date())
        .select('id')
        .limit(1),
    );
    return found.length > 0;
  };
}
