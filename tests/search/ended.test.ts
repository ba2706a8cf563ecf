import { request } from 'node:http';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { configured } from '../support/configure';
import { availableClients } from '../support/databases';
import { useDatabase, useStage, useThemes } from '../support/hooks';

const servers = (await availableClients()).filter((client) => client !== 'sqlite');
if (servers.length === 0) test.skip('without a database server there is nothing to test', () => {});

/** The search to cancel: a phrase is searched in the tables of texts. */
const search = { query: 'q in body', names: { q: '"quick brown"' } };
const logic = `export const f = ({ app }) => app.search('q in body', ${JSON.stringify({ names: search.names })}).length;\n`;

/** By client: SQL that lists the statements that wait for a table of texts, and SQL that locks the table. */
const sql = {
  postgres: {
    waiting: `select query as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%_bodies%'`,
    lock: (table: string) => `lock table ${table} in access exclusive mode`,
  },
  mysql: {
    waiting: `select info as waiting from information_schema.processlist
      where db = database() and state like 'Waiting for%' and info like '%_bodies%' and id <> connection_id()`,
    lock: (table: string) => `lock tables ${table} write`,
  },
};

describe.skipIf(servers.length === 0).each(servers)('a search on %s that its reader no longer waits for', (client) => {
  const database = useDatabase(client);
  const themes = useThemes({
    'main/apps/search/blocks/find.js': logic,
    'main/apps/search/blocks/find.yaml': 'cache: false\nelements: { f: BASIC }\n',
  });
  // The search's own time limit is not reached: it is cancelled because its reader has left.
  const apps = { limits: { logicTime: 1_500, searchTime: 60_000 } };
  const stage = useStage(() => ({
    themesDirectory: themes.directory,
    env: { ...configured({ apps }), ...database().address.env },
  }));
  beforeAll(async () => {
    await stage.put('search', 'a', { body: 'the quick brown fox' });
    expect((await stage.send({ send: 'POST search/search', json: search })).json).toHaveLength(1);
    expect((await stage.send({ send: 'GET search/blocks/find/f' })).json).toBe(1);
    // A build of an index waits for a locked table too, nothing cancels it, and after it searches use another table.
    const ready = [expect.objectContaining({ phase: 'ready' })];
    await vi.waitFor(async () => expect(await generations()).toEqual(ready), { timeout: 20_000, interval: 200 });
  });

  /** The index tables of the app of the only record. */
  const generations = async (): Promise<{ id: string; phase: string }[]> => {
    const select = 'select s.state from apps_index_states s join apps_records r on r.scope = s.scope';
    return JSON.parse(String(rowsOf(await database().knex.raw(select))[0]?.state));
  };

  const texts = sql[client as keyof typeof sql];
  const rowsOf = (answer: { rows?: unknown } & unknown[]) => (answer.rows ?? answer[0]) as Record<string, unknown>[];
  const waiting = async () => rowsOf(await database().knex.raw(texts.waiting)).map((row) => row.waiting);

  /** Keeps the table of texts locked while the work runs. */
  async function locked(work: () => Promise<void>): Promise<void> {
    const [generation] = await generations();
    await database().knex.transaction(async (trx) => {
      await trx.raw(texts.lock(`apps_index_${generation?.id}_bodies`));
      await work().finally(() => (client === 'mysql' ? trx.raw('unlock tables') : undefined));
    });
  }

  test('is cancelled when its client leaves', async () => {
    const token = await stage.csrf('anonymous');
    await locked(async () => {
      const headers = { 'content-type': 'application/json', 'x-csrf-token': token };
      const asked = request(`${stage.host.url}/site/@@apps/search/search`, { method: 'POST', headers });
      asked.on('error', () => undefined);
      asked.end(JSON.stringify(search));
      await expect.poll(waiting).toHaveLength(1);
      asked.destroy();
      await expect.poll(waiting).toEqual([]);
    });
  });

  // On a machine that pauses, the time can be over before the search is seen waiting.
  test('is cancelled when the time of its logic is over', { retry: 2 }, async () => {
    await locked(async () => {
      const answer = stage.send({ send: 'GET search/blocks/find/f' });
      await expect.poll(waiting).toHaveLength(1);
      expect((await answer).status).toBe(504);
      await expect.poll(waiting).toEqual([]);
    });
    expect((await stage.send({ send: 'GET search/blocks/find/f' })).json).toBe(1);
  });
});
