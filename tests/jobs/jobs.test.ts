import { beforeAll, describe, expect, test } from 'vitest';
import { configured } from '../support/configure';
import { availableClients } from '../support/databases';
import { useDatabase, useStage, useThemes } from '../support/hooks';
import { bearer, send } from '../support/send';
import { timeForMore } from '../support/time';

const logic = `
/** Adds what the request says, and gives the ids. */
export function add(context) {
  const { adds, fail, save } = context.request.body;
  if (save) context.app.create_record(save).save({});
  const ids = adds.map(([name, params, options]) => context.jobs.add(name, params, options));
  if (fail) throw new Error('after all');
  return { ids };
}
/** Notes that it has run, and as whom. */
export function note(context) {
  const { params, api } = context;
  const manager = context.app.acl.is_manager();
  context.app.create_record().save({ ...params, user: api.user?.username ?? null, manager, content: context.content.type });
}
/** Fails until the record that it looks for is there. */
export function needs(context) {
  if (!context.app.get_record(context.params.needs)) throw new Error('not there');
  note(context);
}
export function half(context) { note(context); throw new Error('always'); }
`;
const python = `
def add(context):
    return {'ids': [context.jobs.add('queue/note', {'by': 'python'}, key='py', delay=0)]}
`;

const themes = useThemes(async (themes) => {
  const settings = 'acl:\n  rights:\n    editor: [editors]\n    submitter: ["*"]\n    reader: ["*"]\n';
  await themes.write('main/apps/tasks/settings.yaml', settings);
  await themes.write('main/apps/tasks/blocks/queue.js', logic);
  await themes.write('main/apps/tasks/blocks/queue.yaml', 'elements:\n  add: BASIC\n  note: BASIC\n');
  await themes.write('main/apps/tasks/blocks/closed.js', logic);
  await themes.write('main/apps/tasks/blocks/closed.yaml', 'view_permission: [managers]\nelements:\n  note: BASIC\n');
  await themes.write('main/apps/tasks/blocks/snake.py', python);
  await themes.write('main/apps/tasks/blocks/snake.yaml', 'elements:\n  add: BASIC\n');
});

type Add = [name: string, params?: object | null, options?: object];

describe.each(await availableClients())('jobs on %s', (client) => {
  const database = useDatabase(client);
  const env = configured({ apps: { jobs: { retries: 1, backoff: 2, lease: 2 } } });
  const stage = useStage(() => ({ themesDirectory: themes.directory, env: { ...env, ...database().address.env } }));

  beforeAll(async () => {
    await stage.user('eric');
  });

  const add = (adds: Add[], more: object = {}, as = 'eric') =>
    stage.send<{ ids: string[] }>({ as, send: 'POST tasks/blocks/queue/add', json: { adds, ...more } });

  async function notes(by: string) {
    const { json } = await stage.send<{ items: Record<string, unknown> }[]>({ as: 'eric', send: 'GET tasks/records' });
    return json.map(({ items }) => items).filter((items) => items.by === by);
  }

  const row = (id: string) =>
    stage.host.run(async (strapi, id) => strapi.plugin('apps').service('jobs').find(id), id) as Promise<{
      state: string;
      error: string | null;
      attempts: number;
    } | null>;

  test.each([
    { as: 'eric', user: 'eric' },
    { as: 'anonymous', user: null },
  ])('a job runs once, as $as, with the portal as its content', async ({ as, user }) => {
    const by = `one-${as}`;
    const answer = await add([['queue/note', { by }]], {}, as);
    expect(answer.status, answer.text).toBe(200);
    await expect.poll(() => notes(by)).toMatchObject([{ by, user, content: 'portal' }]);
    await timeForMore();
    expect(await notes(by)).toHaveLength(1);
    expect(await row(answer.json.ids[0] as string)).toMatchObject({ state: 'done', attempts: 1, error: null });
  });

  test('a request that fails leaves no job', async () => {
    const answer = await add([['queue/note', { by: 'never' }]], { fail: true, save: 'undone' });
    expect(answer.status).toBe(500);
    await timeForMore();
    expect(await notes('never')).toEqual([]);
  });

  test('a key makes it once while it waits, and is free afterwards', async () => {
    const { json: first } = await add([
      ['queue/note', { by: 'keyed', n: 1 }, { key: 'k', delay: 1 }],
      ['queue/note', { by: 'keyed', n: 2 }, { key: 'k', delay: 1 }],
    ]);
    const { json: second } = await add([['queue/note', { by: 'keyed', n: 3 }, { key: 'k' }]]);
    expect(new Set([...first.ids, ...second.ids]).size).toBe(1);
    await expect.poll(() => notes('keyed'), { timeout: 10_000 }).toMatchObject([{ n: 1 }]);
    const { json: third } = await add([['queue/note', { by: 'keyed', n: 4 }, { key: 'k' }]]);
    expect(third.ids).not.toEqual(second.ids);
    await expect.poll(() => notes('keyed')).toMatchObject([{ n: 1 }, { n: 4 }]);
  });

  test('what fails is tried again, and nothing of a failed try is stored', async () => {
    const { json } = await add([['queue/needs', { by: 'again', needs: 'wanted' }]]);
    const [id = ''] = json.ids;
    await expect
      .poll(() => row(id))
      .toMatchObject({ state: 'waiting', attempts: 1, error: expect.stringContaining('not there') });
    await stage.put('tasks', 'wanted');
    await expect.poll(() => row(id), { timeout: 10_000 }).toMatchObject({ state: 'done', attempts: 2 });
    expect(await notes('again')).toHaveLength(1);
  });

  test('after the last try it is dead, and can be run again', async () => {
    const { json } = await add([['queue/half', { by: 'half' }]]);
    const [id = ''] = json.ids;
    await expect.poll(() => row(id), { timeout: 10_000 }).toMatchObject({ state: 'dead', attempts: 2 });
    expect((await row(id))?.error).toContain('always');
    expect(await notes('half')).toEqual([]);
    const count = await stage.host.run((strapi, id) => strapi.plugin('apps').service('jobs').retry({ id }), id);
    expect(count).toBe(1);
    await expect.poll(() => row(id), { timeout: 10_000 }).toMatchObject({ state: 'dead', attempts: 2 });
  });

  test('one whose user the block does not name is dead at once', async () => {
    const { json } = await add([['closed/note', { by: 'closed' }]]);
    const error = expect.stringContaining('not allowed to see "closed"');
    await expect.poll(() => row(json.ids[0] as string)).toMatchObject({ state: 'dead', attempts: 1, error });
  });

  test('a function that does not exist yet waits', async () => {
    const { json } = await add([['queue/missing', { by: 'missing' }]]);
    const error = expect.stringContaining('has no function "missing"');
    await expect.poll(() => row(json.ids[0] as string)).toMatchObject({ state: 'waiting', attempts: 0, error });
  });

  test('Python adds jobs too', async () => {
    const answer = await stage.send({ as: 'eric', send: 'POST tasks/blocks/snake/add', json: {} });
    expect(answer.status, answer.text).toBe(200);
    await expect.poll(() => notes('python')).toMatchObject([{ by: 'python', user: 'eric' }]);
  });

  test('the host’s code adds jobs, as a user who may act when they run', async () => {
    await stage.user('nina');
    const documentId = (await stage.host.run(async (strapi) => {
      const where = { username: 'nina' };
      return (await strapi.db.query('plugin::users-permissions.user').findOne({ where }))?.documentId;
    })) as string;
    const enqueue = (user: string | null, by: string) =>
      stage.host.run(
        (strapi, user, by) =>
          strapi
            .plugin('apps')
            .service('apps')
            .enqueue({ site: 'site', app: 'tasks', block: 'queue', function: 'note', params: { by }, user }),
        user,
        by,
      );
    await enqueue(null, 'code');
    await expect.poll(() => notes('code')).toMatchObject([{ user: null }]);
    await enqueue(documentId, 'code-nina');
    await expect.poll(() => notes('code-nina')).toMatchObject([{ user: 'nina' }]);
    await stage.host.run(async (strapi, documentId) => {
      const data = { blocked: true };
      await strapi.db.query('plugin::users-permissions.user').update({ where: { documentId }, data });
    }, documentId);
    const id = (await enqueue(documentId, 'blocked')) as string;
    await expect.poll(() => row(id)).toMatchObject({ state: 'dead', attempts: 1 });
    expect((await row(id))?.error).toContain('is blocked');
    expect(await notes('blocked')).toEqual([]);
  });

  test('an admin token’s jobs have its permissions, not those of its administrator', async () => {
    await stage.credential('root');
    const token = await stage.host.run(async (strapi) => {
      const owner = await strapi.db
        .query('admin::user')
        .findOne({ where: { email: 'root@example.com' }, populate: ['roles'] });
      const action = { action: 'plugin::apps.read', subject: null, properties: {}, conditions: [] };
      const data = { kind: 'admin', name: 'reading', description: '', lifespan: null, adminPermissions: [action] };
      const { id, accessKey } = await strapi.service('admin::api-token-admin').create(data, owner);
      return { id: id as number, accessKey: accessKey as string };
    });
    const path = '/site/@@apps/tasks/blocks/queue/add';
    const addByToken = (...adds: Add[]) =>
      send<{ ids: string[] }>(stage.host.url, {
        method: 'POST',
        path,
        headers: { accept: 'application/json', ...bearer(token.accessKey) },
        json: { adds },
      });
    await add([['queue/note', { by: 'session' }]], {}, 'root');
    await expect.poll(() => notes('session')).toMatchObject([{ manager: true }]);
    await addByToken(['queue/note', { by: 'token' }]);
    await expect.poll(() => notes('token')).toMatchObject([{ manager: false }]);
    const { json } = await addByToken(['queue/note', { by: 'revoked' }, { delay: 1 }]);
    await stage.host.run((strapi, id) => strapi.service('admin::api-token-admin').revoke(id), token.id);
    const error = expect.stringContaining(`/token:${token.id}" is blocked or does not exist`);
    await expect.poll(() => row(json.ids[0] as string)).toMatchObject({ state: 'dead', error });
  });

  test('an editor’s change is stored where a rule cannot read what it is about', async () => {
    const title = await stage.host.run(async (strapi) => {
      const uid = 'api::article.article';
      const calls = { app: 'tasks', block: 'queue', function: 'note' };
      const rule = { name: 'unread', enabled: true, contentType: uid, event: 'create', ...calls };
      await strapi.db.query('plugin::apps.rule').create({ data: rule });
      strapi.documents.use(async (context, next) => {
        // A statement that fails ends a transaction of PostgreSQL.
        if (context.action === 'findOne' && strapi.db.inTransaction())
          await (await strapi.db.transaction()).get().raw('select * from there_is_none');
        return next();
      });
      const articles = strapi.documents(uid);
      const { documentId } = await articles.create({ data: { title: 'Unread', slug: 'unread', tiles: [] } as never });
      return (await articles.findOne({ documentId }))?.title;
    });
    expect(title).toBe('Unread');
    const rules = () =>
      stage.host.run((strapi) => strapi.plugin('apps').service('jobs').list({ kind: 'rule' }, { limit: 9 }));
    await expect.poll(rules).toMatchObject({ jobs: [{ state: 'done', data: { item: null } }] });
  });

  test.each<[string, Add, string]>([
    ['a block that does not exist', ['queu/note'], 'did you mean "queue"'],
    ['no function', ['queue'], '<block>/<function>'],
    ['both times', ['queue/note', {}, { delay: 1, at: '2030-01-01T00:00:00Z' }], 'not both'],
    ['a time without its offset', ['queue/note', {}, { at: '2030-01-01T00:00:00' }], '2030-01-31T06:00:00Z'],
    ['a negative delay', ['queue/note', {}, { delay: -1 }], '"delay" must be'],
    ['an empty key', ['queue/note', {}, { key: '' }], '"key" must have'],
    ['an unknown option', ['queue/note', {}, { soon: true }], 'has no option soon'],
    ['parameters that are no object', ['queue/note', [] as never], 'params must be an object'],
  ])('refuses %s', async (_, wrong, message) => {
    const answer = await add([wrong]);
    expect(answer.status).toBe(500);
    const { output } = stage.host;
    expect(output()).toContain(message);
  });
});
