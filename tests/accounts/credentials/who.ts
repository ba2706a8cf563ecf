import { expect } from 'vitest';
import type { Host } from '../../support/host';
import { type Answer, type Headers, send } from '../../support/send';
import type { Stage } from '../../support/stage';

export interface Who {
  user: string | null;
  groups: string[];
  manager: boolean;
}

export function expectRefused(answer: Answer): void {
  expect([answer.status, answer.json]).toMatchObject([
    401,
    { data: null, error: { status: 401, name: 'UnauthorizedError' } },
  ]);
  expect(answer.headers['www-authenticate']).toMatch(/^Basic realm=".+"/);
}

/** Asks a process, by default the first, for the requester of these headers. */
export function askersOf(stage: Stage) {
  /** Asks the host for the requester of these headers. */
  const whoIs = (headers: Headers = {}, host: Host = stage.host): Promise<Answer<Who>> =>
    send<Who>(host.url, {
      method: 'GET',
      path: '/site/@@apps/rights/blocks/form/who',
      headers: { accept: 'application/json', ...headers },
    });

  return { whoIs };
}

/** Changes a user of a host as code of the host does. */
export const changeUser = (host: Host, username: string, data: object) =>
  host.run(
    async (strapi, username, data) => {
      const users = strapi.db.query('plugin::users-permissions.user');
      const { id } = await users.findOne({ where: { username } });
      await strapi.plugin('users-permissions').service('user').edit(id, data);
    },
    username,
    data,
  );
