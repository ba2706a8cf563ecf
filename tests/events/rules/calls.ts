import { expect, test } from 'vitest';
import { grantArticles } from '../../support/seed';
import type { Stage } from '../../support/stage';
import { timed, timeForMore } from '../../support/time';
import { events, panel, rule, rulesOf } from './requests';

const all = ['create', 'update', 'delete', 'publish', 'unpublish'];

export function callsOfRules(stage: Stage): void {
  const { makeRules, oldRule, notes, settled, failures, createByApi } = rulesOf(stage);

  test('by an administrator, each event calls its function once, with their rights', async () => {
    await makeRules(all.map((event) => ({ event })));
    const made = await stage.send<{ data: { documentId: string } }>({
      as: 'root',
      send: `POST ${panel}`,
      json: { title: 'One', slug: 'one', secret: 'hush' },
    });
    expect(made.status, made.text).toBe(201);
    const id = made.json.data.documentId;
    expect(await settled(1)).toMatchObject([
      {
        event: 'create',
        rule: 'create',
        documentId: id,
        title: 'One',
        path: '/articles/one',
        secret: null,
        user: 'root@example.com',
        manager: true,
      },
    ]);
    await stage.send({ as: 'root', send: `PUT ${panel}/${id}`, json: { title: 'Two' } });
    expect(await settled(2)).toMatchObject([{}, { event: 'update', title: 'Two' }]);
    const published = await stage.send({ as: 'root', send: `POST ${panel}/${id}/actions/publish`, json: {} });
    expect(published.status, published.text).toBe(200);
    const afterPublish = await settled(3);
    expect(events(afterPublish).filter((event) => event === 'publish')).toHaveLength(1);
    expect(afterPublish.find(({ event }) => event === 'publish')).toMatchObject({
      title: 'Two',
      path: '/articles/one',
    });
    await stage.send({ as: 'root', send: `POST ${panel}/${id}/actions/unpublish`, json: {} });
    expect(events(await settled(afterPublish.length + 1)).at(-1)).toBe('unpublish');
    await stage.send({ as: 'root', send: `DELETE ${panel}/${id}` });
    const last = (await settled(afterPublish.length + 2)).at(-1);
    expect(last).toMatchObject({ event: 'delete', documentId: id, title: 'Two' });
  });

  test('by the content API, each event calls its function once, with the user’s rights', async () => {
    await makeRules(all.map((event) => ({ event })));
    const id = await createByApi('three');
    expect(await settled(2)).toMatchObject([
      { event: 'create', user: 'eric', title: 'three', path: '/articles/three', manager: false },
      { event: 'publish', user: 'eric', path: '/articles/three' },
    ]);
    await stage.send({ as: 'eric', send: `PUT /api/articles/${id}`, json: { data: { summary: 'new' } } });
    expect(events(await settled(4)).slice(2)).toEqual(['update', 'publish']);
    await stage.send({ as: 'eric', send: `DELETE /api/articles/${id}` });
    expect(events(await settled(5)).slice(4)).toEqual(['delete']);
  });

  test('a change that is rolled back is no event', async () => {
    await makeRules([{ event: 'create' }]);
    await stage.host.run((strapi) =>
      strapi.db
        .transaction(async () => {
          await strapi.documents('api::article.article').create({ data: { title: 'never', slug: 'never' } });
          throw new Error('no');
        })
        .catch(() => undefined),
    );
    await stage.host.run((strapi) =>
      strapi.db.transaction(async () => {
        await strapi.documents('api::article.article').create({ data: { title: 'once', slug: 'once' } });
      }),
    );
    expect(await settled(1)).toMatchObject([{ title: 'once', user: null }]);
  });

  test('a rule that is not enabled, and other content types, call nothing', async () => {
    await makeRules([{ event: 'create', enabled: false }]);
    await createByApi('four');
    await stage.host.run((strapi) => strapi.documents('api::page.page').create({ data: { title: 'P', slug: 'p' } }));
    await timeForMore();
    expect(await notes()).toEqual([]);
  });

  test('a failing and a slow rule leave the editor’s action whole, are listed, and the next rule runs', async () => {
    await makeRules([
      { event: 'create', function: 'fail' },
      { event: 'create', function: 'slow' },
    ]);
    await oldRule({ ...rule, function: 'missing' });
    await oldRule({ ...rule, block: 'guarded', function: 'note' });
    await makeRules([{ event: 'create', function: 'note' }]);
    const { time } = await timed(() => createByApi('five'));
    expect(time).toBeLessThan(1_500);
    expect(await settled(1)).toMatchObject([{ title: 'five' }]);
    const [failed, slow, missing, guarded, fine] = await failures();
    expect(failed).toEqual([expect.stringMatching(/^LogicError: .*boom/)]);
    expect(slow).toEqual([expect.stringMatching(/^LogicTimeoutError/)]);
    expect(missing).toEqual([expect.stringMatching(/^NotFoundError: .*no function "missing"/)]);
    // Only moderators may use the block, and eric is none.
    expect(guarded).toEqual([expect.stringMatching(/^ForbiddenError: .*"guarded"/)]);
    expect(fine).toEqual([]);
    const { json } = await stage.send<{ failures: { message: string }[] }[]>({ as: 'ada', send: 'GET /apps/rules' });
    expect(json.flatMap(({ failures }) => failures.map(({ message }) => message)).sort()).toEqual(
      [failed, slow, missing, guarded].flat().sort(),
    );
    expect(json[0]?.failures).toMatchObject([{ at: expect.any(String), documentId: expect.any(String) }]);
    expect(await stage.host.printed()).toMatch(/the rule "r" failed .*ForbiddenError/);
  });

  test('a rule that triggers itself stops after one round, and what it wrote is there', async () => {
    await makeRules([
      { event: 'create', function: 'again' },
      { event: 'update', function: 'again' },
    ]);
    const id = await createByApi('six');
    const found = await settled(2);
    expect(events(found)).toEqual(['create', 'update']);
    const draft = await stage.host.run(
      (strapi, id) => strapi.documents('api::article.article').findOne({ documentId: id }),
      id,
    );
    expect(draft?.summary).toBe('changed changed ');
    expect((await failures()).flat()).toEqual([]);
  });

  test('nor does one that triggers itself by a job', async () => {
    await makeRules([{ event: 'update', function: 'later' }]);
    const id = await createByApi('job');
    await stage.send({ as: 'eric', send: `PUT /api/articles/${id}`, json: { data: { summary: 'first' } } });
    const summary = () =>
      stage.host.run(
        async (strapi, id) => (await strapi.documents('api::article.article').findOne({ documentId: id }))?.summary,
        id,
      );
    await expect.poll(summary).toBe('by a job');
    expect(events(await settled(1))).toEqual(['update']);
  });

  test('a rule can do no more than the acting user', async () => {
    await grantArticles(stage.host, 'submitters', ['create']);
    await makeRules([{ event: 'create', function: 'again' }]);
    await createByApi('seven', 'sam');
    await expect.poll(async () => (await failures()).flat()).toEqual([expect.stringMatching(/Forbidden|not allowed/i)]);
    expect(await notes()).toEqual([]);
  });

  test('a guarded block’s rule runs for those whom the block names', async () => {
    await makeRules([{ event: 'create', block: 'guarded' }]);
    await stage.send({ as: 'root', send: `POST ${panel}`, json: { title: 'G', slug: 'g' } });
    expect(await settled(1)).toMatchObject([{ title: 'G', manager: true }]);
    expect((await failures()).flat()).toEqual([]);
  });
}
