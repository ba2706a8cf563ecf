import { expect, test } from 'vitest';
import { useStage, useThemes } from '../support/hooks';
import { adminToken, article, grantArticles } from '../support/seed';
import { send } from '../support/send';
import { html } from '../support/stage';

const logic = `
export function right({ app }) { return String(app.acl.has_access_right('author')); }
export function articles({ api }) {
  try { return api.documents('${article}').findMany({ sort: 'title' }).map((one) => one.title).join(' '); }
  catch (error) { return 'refused'; }
}
`;
const themes = useThemes({
  'main/apps/shared/settings.yaml': 'debug: true\nacl: { rights: { reader: ["*"], author: [anna] } }\n',
  ...Object.fromEntries(
    ['right', 'articles'].flatMap((name) => [
      [`main/apps/shared/blocks/${name}.html`, `<p>{${name}}</p>`],
      [`main/apps/shared/blocks/${name}.js`, logic],
      [`main/apps/shared/blocks/${name}.yaml`, `elements: { ${name}: BASIC }\n`],
    ]),
  ),
  'main/apps/timed/settings.yaml': 'visitor: true\n',
  'main/apps/timed/blocks/own.html': '<p>{{ context.visitor.id }}</p>',
  'main/apps/timed/blocks/any.html': '<p>any</p>',
  'main/apps/timed/blocks/known.html': '<p>timed</p>',
  'main/apps/timed/blocks/known.yaml': 'cache: 600\n',
  'main/apps/shared/blocks/current.html': '<p>{{ context.content.title }}: {{ context.content.fields.summary }}</p>',
  'main/templates/article.html': '<p>{{ context.content.title }}: {{ context.content.fields.summary }}</p>',
  'main/apps/shared/blocks/plain.html': '<p>plain</p>',
  'main/templates/portal.html':
    "{% block 'shared/blocks/right' %}{% block 'timed/blocks/known' %}{% block 'shared/blocks/plain' %}",
});
const stage = useStage(() => ({ themesDirectory: themes.directory }));

const get = async (path: string, as = 'anonymous') => {
  const { headers, text } = await stage.send({ send: `GET ${path}`, accept: html, as });
  return { cache: headers['x-apps-cache'], cookie: headers['set-cookie'], text };
};

test('a page does not share what a right grants to one user by name', async () => {
  for (const as of ['abel', 'abel', 'anna', 'abel', 'anna']) {
    const { text } = await get('/site/', as);
    expect(text).toContain(`<p>${as === 'anna'}</p>`);
  }
  expect((await get('/site/', 'anna')).cache).toBe('hit');
});

test('users of a group share the rendering of a block', async () => {
  await get('shared/blocks/plain', 'rita');
  expect((await get('shared/blocks/plain', 'rita')).cache).toBe('hit');
  expect((await get('shared/blocks/plain', 'abel')).cache).toBe('miss');
  expect((await get('shared/blocks/plain', 'abel')).cache).toBe('hit');
});

test('a visitor gets the cookie with a kept page too', async () => {
  await get('/site/');
  const { cache, cookie } = await get('/site/');
  expect(cache).toBe('hit');
  expect(String(cookie)).toMatch(/visitor/);
});

test('each visitor is shown their own id, and gets a cookie with what is shared', async () => {
  const visit = async (block: string, cookie = '') => {
    const send = `GET timed/blocks/${block}`;
    const { headers, text } = await stage.send({ send, accept: html, ...(cookie && { headers: { cookie } }) });
    return { cookie: String(headers['set-cookie'] ?? '').split(';')[0], id: text.match(/<p>(.*?)<.p>/)?.[1] };
  };
  const [one, two] = [await visit('own'), await visit('own')];
  expect(one.id).not.toBe(two.id);
  for (const { cookie, id } of [one, two, one]) expect(await visit('own', cookie)).toEqual({ cookie: '', id });
  const shared = [await visit('any'), await visit('any')].map(({ cookie }) => cookie);
  expect(new Set(shared).size).toBe(2);
  expect(shared.every((cookie) => cookie?.includes('visitor'))).toBe(true);
});

test('an administrator does not get fields that another one may read', async () => {
  await documents('create', { data: { title: 'First', slug: 'first', summary: 'S' }, status: 'published' });
  const all = await administrator('all', ['title', 'slug', 'summary']);
  const some = await administrator('some', ['title', 'slug']);
  for (const [bearer, summary] of [
    [all, 'S'],
    [all, 'S'],
    [some, ''],
  ])
    for (const path of ['/site/articles/first/@@apps/shared/blocks/current', '/site/articles/first']) {
      const { text } = await send(stage.host.url, {
        method: 'GET',
        path,
        as: { bearer: String(bearer) },
        headers: { accept: html },
      });
      expect(text).toContain(`<p>First: ${summary}</p>`);
    }
});

test('content that was changed before a hook failed', async () => {
  await grantArticles(stage.host, 'Public');
  await get('shared/blocks/articles');
  expect((await get('shared/blocks/articles')).cache).toBe('hit');
  await stage.host.run(async (strapi, uid) => {
    const { lifecycles } = strapi.db.metadata.get(uid) as { lifecycles: Record<string, unknown> };
    lifecycles.afterUpdateMany = () => {
      throw new Error('hook');
    };
    await strapi.db
      .query(uid as never)
      .updateMany({ where: {}, data: { title: 'Second' } as never })
      .catch(() => {});
    delete lifecycles.afterUpdateMany;
  }, article);
  expect((await get('shared/blocks/articles')).text).toContain('<p>Second</p>');
});

/** Makes an administrator who may read these fields of articles, and logs in. */
async function administrator(name: string, fields: string[]): Promise<string> {
  const email = `${name}@example.com`;
  const bearer = await adminToken(stage.host, { email, actions: [] });
  await stage.host.run(
    async (strapi, name, subject, fields) => {
      const role = await strapi.db.query('admin::role').findOne({ where: { name } });
      const action = 'plugin::content-manager.explorer.read';
      await strapi.service('admin::role').assignPermissions(role.id, [{ action, subject, properties: { fields } }]);
    },
    email,
    article,
    fields,
  );
  return bearer;
}

const documents = (method: string, params: object) =>
  stage.host.run(
    async (strapi, uid, method, params) => {
      const service = strapi.documents(uid as never) as unknown as Record<string, (one: object) => Promise<unknown>>;
      await service[method]?.(params);
    },
    article,
    method,
    params,
  );
