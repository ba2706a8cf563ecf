import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { fileAddresses, shownApp } from '../forms/files/addresses';
import { berlin, dayApp, daysOfTheSite } from '../logic/context/site-day';
import { configured } from '../support/configure';
import { availableClients } from '../support/databases';
import { useDatabase, useStage, useThemes } from '../support/hooks';
import { type AppName, ruleApps } from './ways/apps';
import { rules } from './ways/rules';
import { wayNames } from './ways/send';
import { forgetRecords, prepare, rightRequests, tableOfRules } from './ways/table';

/**
 * The rules that ask the database, on servers; all rules, on SQLite, are in ways.test.ts. On the same hosts: addresses of files
 * and the days of the site, which are on SQLite in repeat-files.test.ts and context.test.ts.
 */
const servers = (await availableClients()).filter((client) => client !== 'sqlite');
const asking = rules.filter(({ title }) => /^(a reference|a file|owner)/.test(title));

describe.each(servers)('on %s', (client) => {
  const themes = useThemes(async (copy) => {
    for (const [file, text] of Object.entries({ ...ruleApps, ...shownApp, ...dayApp }))
      await copy.write(`main/${file}`, text);
  });
  const database = useDatabase(client);
  const env = configured({ apps: { sites: berlin } });
  const stage = useStage(() => ({ themesDirectory: themes.directory, env: { ...env, ...database().address.env } }));
  const apps: AppName[] = ['strict', 'free'];

  beforeAll(() => prepare(stage, apps));
  beforeEach(() => forgetRecords(stage, apps));

  rightRequests(stage, wayNames);
  tableOfRules(stage, asking, wayNames);
  fileAddresses(stage, stage.host, () => stage.host.url);
  daysOfTheSite(stage);

  test('a file is removed with the last record that names it', async () => {
    const file = (documentId: string) => ({ id: 1, documentId, name: documentId, url: '/a', mime: 'a/b', size: 1 });
    const [own, shared, foreign] = [file('own'), file('shared'), file('foreign')];
    await stage.host.run(
      async (strapi, names) => {
        const unused = { hash: 'a', url: '/a', mime: 'a/b', size: 1, provider: 'local' };
        for (const name of names) {
          await strapi.db.query('plugin::upload.file').create({ data: { ...unused, name, documentId: name } });
          const row = { site: 'site', app: name === 'foreign' ? 'strict' : 'free', file: name, saved: true };
          await strapi.db.query('plugin::apps.file').create({ data: row });
        }
      },
      ['own', 'shared', 'foreign'],
    );
    const left = () =>
      stage.host.run(
        async (strapi, names) => {
          const rows = await strapi.db.query('plugin::apps.file').findMany({ where: { file: { $in: names } } });
          const files = await strapi.db.query('plugin::upload.file').findMany({ where: { name: { $in: names } } });
          return {
            files: files.map(({ name }: { name: string }) => name).sort(),
            rows: rows.map((row: { file: string; released: string | null }) => `${row.file} ${row.released}`).sort(),
          };
        },
        [own, shared, foreign].map(({ name }) => name),
      );
    await stage.keep('free', 'first', { one: own, list: [shared, foreign] });
    await stage.keep('free', 'second', { deep: { list: [shared] } });
    expect((await stage.send({ as: 'mona', send: 'DELETE free/record/first' })).status).toBe(200);
    await expect.poll(left).toEqual({ files: ['foreign', 'shared'], rows: ['foreign null', 'shared null'] });
    expect((await stage.send({ as: 'mona', send: 'DELETE free/record/second' })).status).toBe(200);
    await expect.poll(left).toEqual({ files: ['foreign'], rows: ['foreign null'] });
  });
});
