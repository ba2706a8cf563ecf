import type { AppsAction, Requester } from '../types';

/** A requester for tests: anonymous by default. */
export function requester(given: Partial<Requester> & { actions?: AppsAction[] } = {}): Requester {
  const { actions = [], ...rest } = given;
  return {
    kind: 'anonymous',
    credential: 'anonymous',
    identity: '',
    username: null,
    groups: ['Public'],
    isManager: false,
    can: (action) => actions.includes(action),
    profile: null,
    auth: { strategy: { name: 'users-permissions' }, credentials: null },
    ...rest,
  };
}

export const alice = requester({
  kind: 'user',
  credential: 'cookie',
  identity: 'user:a1',
  username: 'alice',
  groups: ['Editors'],
});
