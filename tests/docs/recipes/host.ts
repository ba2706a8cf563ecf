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

  test('the digest of digest.md has each question once, and comes only with questions', async () => {
    const run = () =>
      host.run(async (strapi) => {
        const schedules = strapi.plugin('apps').service('schedules');
        const target = { site: 'site', app: 'questions', block: 'digest', function: 'send' };
        const [listed] = (await schedules.list()).filter(({ app }: { app: string }) => app === target.app);
        const jobs = strapi.plugin('apps').service('jobs');
        const id: string = await schedules.runNow(target);
        const end = Date.now() + 20_000;
        while ((await jobs.find(id))?.state !== 'done' && Date.now() < end)
          await new Promise((resolve) => setTimeout(resolve, 50));
        const { state, error } = await jobs.find(id);
        const mails = await strapi.db.query('plugin::apps.mail').findMany({ where: { app: 'questions' } });
        return { words: listed.words, state, error, subjects: mails.map(({ subject }) => subject as string) };
      });
    const words = 'At 06:00, Monday through Friday, Europe/Paris';
    expect(await run()).toEqual({ words, state: 'done', error: null, subjects: [] });
    await host.run(async (strapi) => {
      const records = strapi.plugin('apps').service('records');
      const { key } = await records.app('site', 'questions');
      await records.store().transact(async (unit: { create(key: unknown, record: object): Promise<void> }) => {
        for (const question of ['When?', 'Where?']) {
          const items = { block: 'ask', question, asked: new Date().toISOString(), state: 'new' };
          await unit.create(key, { items, creator: null });
        }
      });
    });
    for (let night = 0; night < 2; night += 1)
      expect(await run()).toEqual({ words, state: 'done', error: null, subjects: ['2 new questions'] });
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
