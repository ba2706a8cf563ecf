import { article, attempt, type Case, gives } from './case';

/** Host calls that read and write content: private fields, drafts, foreign types, writes without a right. */
export const contentCalls: readonly Case[] = [
  {
    name: 'call-argument-getters',
    js: `export function f({ api }) {
      let n = 0;
      const d = ${article}, out = [];
      const tries = [() => d.findFirst({ get fields() { n++; return n > 1 ? ['secret'] : ['title']; }, get populate() { return '*'; } }),
        () => d.findFirst(JSON.parse('{"__proto__":{"fields":["secret"]},"fields":["title"]}')),
        () => d.findFirst({ fields: ['title'], filters: JSON.parse('{"__proto__":{"secret":{"$startsWith":"x"}}}') }),
        () => api.documents('__proto__').findMany({}), () => api.documents('constructor').findMany({}),
        () => api.documents({ toString: () => 'api::article.article' }).findFirst({}), () => api.documents(['admin::user']).findFirst({})];
      for (const one of tries) try { const found = one(); out.push(found === null || 'secret' in found); } catch (error) { out.push(false); }
      return out.filter(Boolean);
    }`,
    ...gives([]),
  },
  {
    name: 'call-private',
    js: `export function f({ api }) {
      const d = ${article};
      ${attempt}
      const refused = /^(BadRequestError|ForbiddenError|UnauthorizedError)$/;
      for (const params of [{ fields: ['secret'] }, { fields: 'secret' }, { fields: 'title,secret' }, { fields: [['secret']] }, { fields: ['secret as title'] },
        { fields: ['t0.secret'] }, { fields: ['"secret"'] }, { fields: ['title, secret'] }, { filters: { secret: 'x' } }, { filters: { $or: [{ secret: { $contains: '' } }, { title: 'x' }] } },
        { filters: { $not: { secret: { $null: true } } } }, { filters: { $and: [{ $or: [{ secret: { $notNull: true } }] }] } }, { filters: [{ secret: { $notNull: true } }] },
        { filters: { 't0.secret': 'x' } }, { where: { secret: { $notNull: true } } }, { filters: { $where: '1' } }, { sort: 'secret' }, { sort: 'title,secret:desc' },
        { sort: { secret: 'asc' } }, { sort: 'title:asc;drop' }, { sort: { title: 'asc, (select 1)' } }, { sort: 'createdBy.password:asc' }, { orderBy: 'secret' },
        { populate: { createdBy: { fields: ['email', 'password'] } } }, { populate: 'createdBy.roles.users' }])
        expectError(refused, JSON.stringify(params), () => d.findMany(params));
      for (const op of ['$eq', '$startsWith', '$contains', '$gt', '$ne', '$startsWithi', '$like']) expectError(refused, op, () => d.count({ filters: { secret: { [op]: '' } } }));
      return out;
    }`,
    ...gives([]),
  },
  {
    name: 'call-foreign-types',
    js: `export function f({ api }) {
      ${attempt}
      for (const uid of ['plugin::users-permissions.user', 'admin::user', 'plugin::users-permissions.role', 'admin::api-token', 'plugin::apps.record', 'plugin::apps.rule',
        'plugin::upload.file', 'strapi::core-store', 'plugin::i18n.locale', 'api::page.page', 'tiles.block', 'api::article', 'articles', 'api::article.article ', 'API::article.article',
        'plugin::content-releases.release', 'admin::session', 'strapi::webhook'])
        for (const method of ['findMany', 'count']) expectError(/^(BadRequest|Forbidden|Unauthorized|NotFound)Error$/, uid, () => api.documents(uid)[method]({}));
      return out;
    }`,
    ...gives([]),
  },
  {
    name: 'call-drafts',
    js: `export function f({ api }) {
      const d = ${article}, out = [];
      for (const params of [{ status: 'draft' }, { status: ['draft'] }, { status: { $eq: 'draft' } }, { publicationState: 'preview' }, { hasPublishedVersion: false }, { filters: { publishedAt: { $null: true } } }, { lookup: { publishedAt: null } }])
        try { out.push(...d.findMany(params).map(({ title }) => title)); } catch {}
      return out.filter((title) => title !== 'One');
    }`,
    ...gives([]),
  },
  {
    name: 'call-wildcards',
    js: `export const f = ({ api }) => [${article}.count({ filters: { body: { $contains: '%' + '_%'.repeat(12) + 'zzz' } } }),
      ${article}.count({ filters: { body: { $containsi: '%e%a%t%o%e%a%t%o%e%a%t%o%e%a%e%a%e%a%zzz' } } })];`,
    ...gives([0, 0]),
  },
  {
    name: 'call-many-components',
    js: `export function f({ api }) {
      const on = {};
      for (let i = 0; i < 40000; i++) on['tiles.x' + i] = true;
      try { return ${article}.findMany({ fields: ['title'], populate: { tiles: { on } } }).length; } catch (error) { return error.name; }
    }`,
    ...gives('BadRequestError'),
  },
  {
    name: 'call-portal-paths',
    js: `export function f({ portal, api }) {
      const out = [];
      for (const path of ['/../', '/..%2f', '/articles/../articles/draft', '/articles/draft', '/articles/two', '/users', '/users/1', '/upload/files', '/admin', '/articles/*', '/articles/%', '/articles/_',
        '/articles/\\u0000', '\\ud800', 'x'.repeat(1e6), 'http://127.0.0.1/articles/one', '//127.0.0.1/articles/one', '/articles/one?status=draft', '/__proto__', '/articles/__proto__',
        '/constructor/prototype', '/%E0%A4%A', '/articles/%ff', "/articles/' or '1'='1"])
        for (const get of [(p) => portal.get(p), (p) => api.content.get({ path: p })])
          try { const found = get(path); if (found && found.title !== 'One') out.push([path.slice(0, 30), Object.keys(found)]); }
          catch (error) { if (!/^(BadRequest|NotFound)Error$/.test(error.name)) out.push([path.slice(0, 30), error.name, error.message.slice(0, 80)]); }
      return [out, portal.get('/articles/one').title, Object.keys(portal.get('/articles/one')).includes('secret')];
    }`,
    ...gives([[], 'One', false]),
  },
  {
    name: 'call-content-fields',
    content: '/articles/one',
    js: `export const f = ({ content }) => [content.title, content.secret ?? null, Object.keys(content).includes('secret'), JSON.stringify(content).includes('createdBy')];`,
    ...gives(['One', null, false, false]),
  },
  {
    name: 'call-content-update',
    content: '/articles/one',
    method: 'GET',
    js: `export function f({ content }) {
      ${attempt}
      for (const data of [{ title: 'H' }, { secret: 'x' }, { createdBy: 1 }, { publishedAt: null }, { id: 1 }, { title: 'x'.repeat(1e6) }])
        expectError(/^(Csrf|Unauthorized|Forbidden|BadRequest)Error$/, data, () => content.update(data));
      return out;
    }`,
    ...gives([]),
  },
  {
    name: 'call-write-in-get',
    content: '/articles/one',
    method: 'GET',
    js: `export function f({ app, api, content }) {
      ${attempt}
      const refused = /^(Csrf|Unauthorized|Forbidden|BadRequest|NotFound)Error$/;
      expectError(/^CsrfError$/, 'create_record', () => app.create_record('late'));
      for (const method of ['create', 'update', 'delete', 'publish', 'unpublish', 'discardDraft'])
        expectError(refused, method, () => ${article}[method]({ documentId: content.documentId, data: { title: 'H' } }));
      expectError(refused, 'user', () => api.documents('plugin::users-permissions.user').create({ data: { username: 'x', email: 'x@example.com', password: 'xxxxxx' } }));
      return out;
    }`,
    ...gives([]),
  },
];
