import { describe, expect, test } from 'vitest';
import { adminRoutes, permissionsFor } from '../../plugins/apps/shared/admin-api';
import { useStage } from '../support/hooks';

const stage = useStage();

/** Administrators of the tests by the permission that they have; `root` has all of them. */
const holders = {
  none: 'olga',
  read: 'overseer',
  records: 'clerk',
  develop: 'developer',
  jobs: 'foreman',
  audit: 'auditor',
  persons: 'guardian',
  metrics: 'watcher',
  manage: 'ada',
  all: 'root',
};

const routes = Object.entries(adminRoutes).map(([name, { method, path, needs }]) => ({
  name,
  // Nothing is changed: what is permitted ends with 404 or 400.
  line: `${method} /apps${path.replace(':site', 'nowhere').replace(/:\w+/g, 'none')}`,
  allowed: permissionsFor(needs),
}));

describe.each(routes)('$name: $line', ({ line, allowed }) => {
  test.each(Object.entries(holders))('with %s', async (permission, as) => {
    const json = line.startsWith('GET') ? undefined : {};
    const answer = await stage.send({ as, send: line, json });
    const isAllowed = allowed === null || permission === 'all' || (allowed as string[]).includes(permission);
    if (isAllowed) expect([200, 400, 404], answer.text).toContain(answer.status);
    else expect([answer.status, (answer.json as { error: { name: string } }).error.name]).toEqual([403, 'PolicyError']);
  });

  test.each(['anonymous', 'mona', 'fullToken'])('%s is no administrator', async (as) => {
    expect((await stage.send({ as, send: line, json: line.startsWith('GET') ? undefined : {} })).status).toBe(401);
  });
});

test('the permissions are in the screen of roles', async () => {
  const { json } = await stage.send<{ data: { sections: { plugins: { action: string; displayName: string }[] } } }>({
    as: 'root',
    send: 'GET /admin/permissions',
  });
  const own = json.data.sections.plugins.filter(({ action }) => action.startsWith('plugin::apps.'));
  expect(own.map(({ action }) => action).sort()).toEqual(
    ['audit', 'develop', 'jobs', 'manage', 'metrics', 'persons', 'read', 'records'].map(
      (name) => `plugin::apps.${name}`,
    ),
  );
  for (const { displayName } of own) expect(displayName).toMatch(/^[A-Z].{10,}/);
});

describe('the permissions in the apps themselves', () => {
  test.each([
    ['overseer', 'GET plain/records', 200],
    ['overseer', 'POST plain', 403],
    ['clerk', 'POST plain', 201],
    ['clerk', 'GET plain/records', 200],
    ['clerk', 'POST plain/refresh', 403],
    ['developer', 'GET plain/records', 403],
    ['foreman', 'GET plain/records', 403],
    ['auditor', 'GET plain/records', 403],
    ['watcher', 'GET plain/records', 403],
    ['olga', 'GET plain/records', 403],
    ['ada', 'GET plain/records', 200],
  ])('%s, %s: %i', async (as, send, status) => {
    const json = send.startsWith('GET') ? undefined : {};
    expect((await stage.send({ as, send, json })).status).toBe(status);
  });
});
