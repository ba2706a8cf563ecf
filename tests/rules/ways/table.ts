import { describe, expect, test } from 'vitest';
import { type WayName, ways } from '../../../plugins/apps/server/src/apps/blocks/saving/checked-items';
import type { UnitOfWork } from '../../../plugins/apps/server/src/records/types';
import type { Items } from '../../../plugins/apps/shared/json';
import { grantArticles } from '../../support/seed';
import type { Stage } from '../../support/stage';
import { type AppName, withDrafts } from './apps';
import { foreignFile, ofServer, ownFile, type Rule, requesterOf, right } from './rules';
import { fieldsOf, isOfDraft, linked, makeRules, type Outcome, type Sending, sendBy } from './send';

/** A record as the database has it. */
interface Row {
  app: string;
  identifier: string;
  items: string;
  creator: string | null;
  version: number;
}

/** All records of the host. */
const allRecords = (stage: Stage) =>
  stage.host.run(
    (strapi): Promise<Row[]> => strapi.db.query('plugin::apps.record').findMany({ orderBy: { id: 'asc' } }),
  );

let count = 0;
const nextId = () => `record-${++count}`;

/** What the rules refer to: targets of references, a file, the rules on events. */
export async function prepare(stage: Stage, apps: readonly AppName[]): Promise<void> {
  await stage.put('targets', 'known', { title: 'Known' });
  await stage.put('private', 'hidden', { title: 'Hidden' });
  for (const { id: _, ...file } of [foreignFile, ownFile])
    await stage.host.run(
      async (strapi, data) => {
        await strapi.db.query('plugin::upload.file').create({ data });
      },
      { ...file, hash: 'a', ext: '.pdf', size: 1, provider: 'local' },
    );
  const owned = [...apps, ...apps.map(withDrafts)].map((app) => ({
    site: 'site',
    app,
    file: ownFile.documentId,
    saved: true,
  }));
  await stage.host.run(async (strapi, rows) => {
    for (const data of rows) await strapi.db.query('plugin::apps.file').create({ data });
  }, owned);
  await makeRules(stage, apps);
  for (const role of ['editors', 'readers', 'submitters']) await grantArticles(stage.host, role, ['find', 'create']);
}

/** Deletes the records of the apps, so that each test begins without any. */
export const forgetRecords = (stage: Stage, apps: readonly AppName[]) =>
  stage.host.run(
    (strapi, of) => strapi.db.query('plugin::apps.record').deleteMany({ where: { app: { $in: of } } }),
    [...apps, ...apps.map(withDrafts)],
  );

/** Gives a stored record items that nothing checks. */
const addItems = (stage: Stage, app: string, id: string, set: Items) =>
  stage.host.run(
    async (strapi, app, id, set) => {
      const store = strapi.plugin('apps').service('records').store();
      await store.transact((unit: UnitOfWork) => unit.update({ site: 'site', app }, id, { set }));
    },
    app,
    id,
    set,
  );

/** Makes the record that a way changes, and what it sends. */
async function sendingOf(stage: Stage, rule: Rule, way: WayName, app: AppName): Promise<Sending> {
  const { items = {}, fields = {}, block = 'entry', before, owner = 'mona' } = rule;
  const all = { ...right, ...items };
  const target = isOfDraft(way) ? withDrafts(app) : app;
  const isLinked = isOfDraft(way) || ways[way].right === 'link';
  const made = { app: target, block, items: right, as: owner };
  const { id, link } = isLinked ? await linked(stage, way, made) : { id: nextId(), link: '' };
  if (ways[way].right === 'edit') await stage.put(app, id, { ...right, block }, owner);
  if (before) await addItems(stage, target, id, before);
  const changed = Object.keys(items).length > 0 ? items : { title: 'Right' };
  const form = { ...fieldsOf(all), ...fields };
  return { app: target, block, items: all, changed, fields: form, first: right, id, link, as: requesterOf(rule, way) };
}

function expectPath({ paths, text }: Outcome, path: string): void {
  if (paths === null) expect(text).toContain(path);
  // A page has no control for what is said above the form.
  else if (path === '') expect(paths.filter((one) => one !== '')).toEqual([]);
  else expect(paths).toContain(path);
}

/** The items that were stored last, and that no more was stored than was sent. */
function storedIn(before: readonly Row[], after: readonly Row[], { id }: Sending): Items {
  const old = new Set(before.map(({ app, identifier }) => `${app}/${identifier}`));
  const fresh = after.filter(({ app, identifier }) => !old.has(`${app}/${identifier}`));
  const row = fresh.at(-1) ?? after.find(({ identifier }) => identifier === id);
  return JSON.parse(row?.items ?? '{}');
}

/** A test of each rule by each way: what breaks the rule is refused and nothing stored, or stored as the server says. */
export function tableOfRules(stage: Stage, rules: readonly Rule[], names: readonly WayName[]): void {
  for (const rule of rules) {
    describe(rule.title, () => {
      for (const app of rule.apps ?? (['strict', 'free'] as const)) {
        for (const way of names) {
          const expected = rule.expected(way, app);
          if ('absent' in expected) continue;
          const result = 'refused' in expected ? `is ${expected.refused}` : 'is stored as the server says';
          test(`${ways[way].title} of the app ${app} ${result}`, async () => {
            const sending = await sendingOf(stage, rule, way, app);
            const before = await allRecords(stage);
            const outcome = await sendBy(way, stage, sending);
            const after = await allRecords(stage);
            if ('refused' in expected) {
              if (outcome.status !== null) expect(outcome.status, outcome.text).toBe(expected.refused);
              if (expected.path !== undefined) expectPath(outcome, expected.path);
              if (expected.has !== undefined) expect(outcome.text.replaceAll('\\"', '"')).toContain(expected.has);
              expect(after).toEqual(before);
            } else {
              expect(outcome.status, outcome.text).toBeLessThan(400);
              const stored = storedIn(before, after, sending);
              for (const [name, value] of Object.entries(expected.stored))
                if (value === null || typeof value !== 'object') expect(stored[name] ?? null).toEqual(value);
                else expect(stored[name]).toMatchObject(value);
            }
          });
        }
      }
    });
  }
}

/** What breaks no rule is stored by each way, with what the server adds. */
export function rightRequests(stage: Stage, names: readonly WayName[]): void {
  describe('what breaks no rule is stored', () => {
    const rule: Rule = { title: 'right', expected: () => ({ stored: {} }) };
    for (const app of ['strict', 'free'] as const) {
      test.each(names.map((way) => [ways[way].title, way] as const))(`by %s of the app ${app}`, async (_, way) => {
        const sending = await sendingOf(stage, rule, way, app);
        const before = await allRecords(stage);
        const outcome = await sendBy(way, stage, sending);
        expect(outcome.status, outcome.text).toBeLessThan(400);
        const stored = storedIn(before, await allRecords(stage), sending);
        expect(stored).toMatchObject({ ...right, ...ofServer });
      });
    }
  });
}
