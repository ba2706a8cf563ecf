import { describe, expect, test } from 'vitest';
import type { AppDetail } from '../../../plugins/apps/shared/admin-api';
import { answer, type Panel, press, shown } from './panel';

/** Indexes that are dropped and built again. */
export function indexesInPanel({ stage, visit }: Panel): void {
  const detail = async () =>
    (await stage.send<AppDetail>({ as: 'root', send: 'GET /apps/sites/site/apps/shelf' })).json;

  /** The index tables of all apps by their ids, which change when they are dropped. */
  const tables = () =>
    stage.host.run(async (strapi) => {
      const rows: { state: string }[] = await strapi.db.connection('apps_index_states').select('state');
      return rows.flatMap(({ state }) => (JSON.parse(state) as { id: string }[]).map(({ id }) => id));
    });

  describe('indexes', () => {
    test('are dropped and built again after a question; cancelled, nothing happens', async () => {
      await stage.send({ as: 'mona', send: 'POST shelf/search', json: { query: "title == 'One'" } });
      const before = await tables();
      expect(before).not.toEqual([]);
      await visit('/site/shelf/indexes', async (page) => {
        await press(page, 'Drop and rebuild');
        await shown(page, /Drop all indexes of “shelf” and build them again/);
        await answer(page, 'Cancel');
        expect([(await detail()).refresh, await tables()]).toEqual([null, before]);

        await press(page, 'Drop and rebuild');
        await answer(page, 'Confirm');
        await shown(page, 'All records are indexed.');
        expect((await detail()).refresh).toMatchObject({ state: 'done' });
        const after = await tables();
        expect(after).not.toEqual([]);
        expect(before.filter((id) => after.includes(id))).toEqual([]);
      });
    });
  });
}
