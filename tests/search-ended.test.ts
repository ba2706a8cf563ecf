import { request } from 'node:http';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestDatabase } from '../plugins/apps/server/src/records/test-databases';
import { availableClients, createTestDatabase } from './support/databases';
import { openStage, type Stage } from './support/stage';
import { copyThemes, type ThemeCopy } from './support/theme';

const servers = (await availableClients()).filter((client) => client !== 'sqlite');

/** The search that is to be ended: a phrase is looked for in the tables of texts. */
const search = { query: 'q in body', names: { q: '"quick brown"' } };
const logic = `export const f = ({ app }) => app.search('q in body', ${JSON.stringify({ names: search.names })}).length;\n`;

/** By client: how many statements wait for a table of texts, and how that is kept from others. */
const sql = {
  postgres: {
    waiting: `select count(*) as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%_bodies%'`,
    lock: (table: string) => `lock table ${table} in access exclusive mode`,
  },
  mysql: {
    waiting: `select count(*) as waiting from information_schema.processlist
      where db = database() and state like 'Waiting for%' and info like '%_bodies%' and id <> connection_id()`,
    lock: (table: string) => `lock tables ${table} write`,
  },
};

describe.skipIf(servers.length === 0).each(servers)('a search on %s that its reader no longer waits for', (client) => {
  let database: TestDatabase;
  let themes: ThemeCopy;
  let stage: Stage;
  beforeAll(async () => {
    database = await createTestDatabase(client, { table: false });
    themes = await copyThemes();
    await themes.write('main/apps/search/blocks/find.js', logic);
    await themes.write('main/apps/search/blocks/find.yaml', 'elements: { f: BASIC }\n');
    // Its own time is no limit here: what ends the search is that its reader is gone.
    const config = { themesDirectory: themes.directory, limits: { logicTime: 900, searchTime: 60_000 } };
    const preload = path.join(__dirname, 'support', 'configure.cjs');
    const env = { NODE_OPTIONS: `--require ${preload}`, TEST_APPS_CONFIG: JSON.stringify(config) };
    stage = await openStage({ themesDirectory: themes.directory, env: { ...env, ...database.place.env } });
    await stage.put('search', 'a', { body: 'the quick brown fox' });
    expect((await stage.send({ send: 'POST search/search', json: search })).json).toHaveLength(1);
  });
  afterAll(async () => {
    await stage?.close();
    await themes?.dispose();
    await database?.destroy();
  });

  const texts = sql[client as keyof typeof sql];
  const rowsOf = (answer: { rows?: unknown } & unknown[]) => (answer.rows ?? answer[0]) as Record<string, unknown>[];
  const waiting = async () => Number(rowsOf(await database.knex.raw(texts.waiting))[0]?.waiting);

  /** Keeps the table of texts locked while the work runs. */
  async function locked(work: () => Promise<void>): Promise<void> {
    const tables = await database.knex.raw(
      "select table_name as name from information_schema.tables where table_name like 'apps\\_index\\_%\\_bodies'" +
        (client === 'mysql' ? ' and table_schema = database()' : ''),
    );
    const [table] = rowsOf(tables);
    await database.knex.transaction(async (trx) => {
      await trx.raw(texts.lock(String(table?.name)));
      await work().finally(() => (client === 'mysql' ? trx.raw('unlock tables') : undefined));
    });
  }

  test('is cancelled when its client leaves', async () => {
    const token = await stage.csrf('nobody');
    await locked(async () => {
      const headers = { 'content-type': 'application/json', 'x-csrf-token': token };
      const asked = request(`${stage.host.url}/site/@@apps/search/search`, { method: 'POST', headers });
      asked.on('error', () => undefined);
      asked.end(JSON.stringify(search));
      await expect.poll(waiting, { timeout: 5_000 }).toBe(1);
      asked.destroy();
      await expect.poll(waiting, { timeout: 5_000 }).toBe(0);
    });
  });

  test('is cancelled when the time of its logic is over', async () => {
    await locked(async () => {
      const answer = stage.send({ send: 'GET search/blocks/find/f' });
      await expect.poll(waiting, { timeout: 5_000 }).toBe(1);
      expect((await answer).status).toBe(504);
      await expect.poll(waiting, { timeout: 5_000 }).toBe(0);
    });
    expect((await stage.send({ send: 'GET search/blocks/find/f' })).json).toBe(1);
  });
});
