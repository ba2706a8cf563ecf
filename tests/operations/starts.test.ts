import { describe, expect, test } from 'vitest';
import { availableClients } from '../support/databases';
import { useDatabase } from '../support/hooks';
import { type Host, startHost } from '../support/host';
import { send } from '../support/send';
import { fixtureThemes } from '../support/theme';

const servers = (await availableClients()).filter((client) => client !== 'sqlite');
if (servers.length === 0) test.skip('without a database server there is nothing to test', () => {});

const count = 3;

describe.skipIf(servers.length === 0).each(servers)('processes that start together on %s', (client) => {
  const empty = useDatabase(client, { table: false });
  const older = useDatabase(client);

  /** Starts all at once; each stores a record, and sees those of the others. */
  async function startTogether(env: Record<string, string>): Promise<void> {
    const options = { themesDirectory: fixtureThemes, env: { ...env, APPS_THEME: 'main' } };
    const started = await Promise.allSettled(Array.from({ length: count }, () => startHost(options)));
    const hosts = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    try {
      expect(started.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []))).toEqual([]);
      const put = async ({ url }: Host, id: string) => {
        const path = '/site/@@apps/open';
        const headers = { accept: 'application/json' };
        const got = await send(url, { method: 'GET', path, headers });
        const token = String(got.headers['x-csrf-token']);
        const json = { n: 1 };
        return send(url, {
          method: 'PUT',
          path: `${path}/record/${id}`,
          json,
          headers: { ...headers, 'x-csrf-token': token },
        });
      };
      for (const [n, host] of hosts.entries()) expect((await put(host, `by-${n}`)).status).toBe(201);
      for (const host of hosts) {
        const { json } = await send<object[]>(host.url, {
          method: 'GET',
          path: '/site/@@apps/open/records',
          headers: { accept: 'application/json' },
        });
        expect(json).toHaveLength(count);
      }
    } finally {
      await Promise.all(hosts.map((host) => host.stop()));
    }
  }

  test('an empty database', () => startTogether(empty().address.env));

  test('a database of an older release, whose tables lack columns', async () => {
    const { knex, address } = older();
    await knex.schema.dropTable('apps_drafts');
    await knex.schema.dropTable('apps_commit_counts').catch(() => undefined);
    await knex.schema.alterTable('apps_jobs', (table) => table.dropColumn('missing_since'));
    const [row] = await knex('strapi_database_schema').select('id', 'schema');
    const schema = typeof row.schema === 'string' ? JSON.parse(row.schema) : row.schema;
    schema.tables = schema.tables.filter(({ name }: { name: string }) => name !== 'apps_drafts');
    for (const table of schema.tables)
      if (table.name === 'apps_jobs')
        table.columns = table.columns.filter(({ name }: { name: string }) => name !== 'missing_since');
    await knex('strapi_database_schema')
      .where({ id: row.id })
      .update({ schema: JSON.stringify(schema), hash: 'older' });
    await startTogether(address.env);
    expect(await knex.schema.hasColumn('apps_jobs', 'missing_since')).toBe(true);
    expect(await knex.schema.hasTable('apps_drafts')).toBe(true);
  });
});
