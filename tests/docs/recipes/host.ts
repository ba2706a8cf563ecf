import { beforeAll, describe, expect, test } from 'vitest';
import type { Host } from '../../support/host';

/** Recipes whose files belong to Strapi itself: a cron task, and a rule that is made in the panel. */
export function codeOfTheHost(host: Host, at: (page: string, file: string) => string): void {
  test('the task of cron.md deletes the records that are old enough, and no other', async () => {
    const found = await host.run(
      async (strapi, file) => {
        const records = strapi.plugin('apps').service('records');
        const { key } = await records.app('site', 'drafts');
        const today = new Date().toISOString().slice(0, 10);
        await records.store().transact(async (unit: { create(key: unknown, record: object): Promise<void> }) => {
          await unit.create(key, { id: 'old', items: { touched: '2020-01-01' }, creator: null });
          await unit.create(key, { id: 'new', items: { touched: today }, creator: null });
        });
        const load = process.getBuiltinModule('node:module').createRequire(file);
        const { tidyDrafts } = load(file) as { tidyDrafts: { task(all: object): Promise<void>; options: object } };
        await tidyDrafts.task({ strapi });
        const rows = await strapi.db.query('plugin::apps.record').findMany({ where: { app: 'drafts' } });
        return { left: rows.map(({ identifier }) => identifier as string), options: tidyDrafts.options };
      },
      at('cron.md', 'config/cron-tasks.js'),
    );
    expect(found).toEqual({ left: ['new'], options: { rule: '0 3 * * *' } });
  });

  describe('the rule of publishing.md', () => {
    beforeAll(() =>
      host.run(async (strapi) => {
        const data = { name: 'Journal', enabled: true, event: 'publish', contentType: 'api::article.article' };
        const call = { app: 'journal', block: 'entry', function: 'published' };
        await strapi.db.query('plugin::apps.rule').create({ data: { ...data, ...call } });
      }),
    );

    test('is made as by the panel', async () => {
      expect(await host.run((strapi) => strapi.db.query('plugin::apps.rule').count())).toBe(1);
    });
  });
}
