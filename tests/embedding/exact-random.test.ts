import { beforeAll, describe, expect, test } from 'vitest';
import type { AppOptions } from '../../plugins/apps/shared/admin-api';
import { configured } from '../support/configure';
import { availableClients } from '../support/databases';
import { useDatabase, useStage, useThemes, useTwin } from '../support/hooks';
import type { Host } from '../support/host';
import { article, grantArticles } from '../support/seed';
import { type Credential, send } from '../support/send';

/** Answers that are compared: `TEST_EXACT=100000 npm run test:e2e -- tests/embedding/exact-random.test.ts`. */
const answers = Number(process.env.TEST_EXACT ?? 240);
const seed = Number(process.env.TEST_EXACT_SEED ?? Date.now() % 1_000_000);

/** Numbers from 0 to 1, always the same for a seed. */
function randomNumbers(begin: number): () => number {
  let state = begin;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const logic = `
const names = (records) => records.map((record) => record.id + ':' + record.get('size')).join(' ');
export function big({ app }) { return app.count('size>5') + ' big'; }
export function latest({ app, request }) {
  const tag = request.query.tag ?? 'a';
  return names(app.search('tag=="' + tag + '"', { sort_index: 'size', limit: 3 }));
}
export function one({ app, request }) { return String(app.get_record(request.query.id ?? 'r1')?.get('size')); }
export function all({ app }) { return names(app.records({ limit: 20 })); }
export function articles({ api }) {
  return api.documents('${article}').findMany({ sort: 'title' }).map((one) => one.title).join(' ');
}
export function option({ app }) { return JSON.stringify(app.options); }
export function other({ get_app }) { return String(get_app('second').count()); }
export function language({ request }) { return request.headers['accept-language'] ?? 'none'; }
export function whole({ request, parent_request }) { return request.url + (parent_request?.url ?? ''); }
export function shown({ app }) { return app.get_record('r1')?.display() ?? 'gone'; }
export function current({ content }) { return content.title; }
export function mine({ app, api }) {
  return (api.user?.username ?? 'nobody') + ' ' + names(app.records({ own: true }));
}
export function group({ app }) { return app.acl.current_user_groups().join(); }
export function rights({ app }) { return String([app.acl.has_access_right('reader'), app.acl.has_access_right('author'), app.acl.is_manager()]); }
export function page({ portal }) { return portal.get('articles/first')?.title ?? 'none'; }
`;
const people = ['anonymous', 'anonymous', 'anonymous', 'rita', 'anna', 'abel', 'mona'];
const functions = [...logic.matchAll(/function (\w+)/g)].map(([, name]) => name as string);
const work = `
export function add({ jobs }) { return { id: jobs.add('tasks/change') }; }
export function change({ app }) { app.create_record({ items: { block: 'item', tag: 'a', size: app.count() % 10 } }); }
`;
/** Those whose tokens of what they have read are compared too. */
const isLive = new Set(['latest', 'big', 'one', 'all']);
const settings =
  'debug: true\nacl: { rights: { reader: [Public, readers], author: [authors], editor: [Public] } }\noptions: { colour: red }\n';
const elements = functions.map((name) => `  ${name}: BASIC\n`).join('');

const themes = useThemes({
  'main/apps/first/settings.yaml': settings,
  'main/apps/first/blocks/item.yaml':
    'elements:\n  tag: { type: TEXT, index_type: field }\n  size: { type: NUMBER, index_type: field }\n',
  'main/apps/first/blocks/item.html': '<p>{tag} {size}</p>{_save}',
  ...Object.fromEntries(
    functions.flatMap((name) => [
      [`main/apps/first/blocks/${name}.html`, `<p>{${name}}</p>`],
      [`main/apps/first/blocks/${name}.js`, logic],
      [
        `main/apps/first/blocks/${name}.yaml`,
        `${isLive.has(name) ? 'refresh: on-change\n' : ''}elements:\n${elements}`,
      ],
    ]),
  ),
  'main/apps/first/blocks/tasks.yaml': 'elements: { add: BASIC }\n',
  'main/apps/first/blocks/tasks.js': work,
  'main/apps/second/settings.yaml': settings,
  // The same apps with other pages around them.
  'other/layout.html': '<!doctype html><title>Other</title><main>{{ main }}</main>',
  'other/apps/first.lnk': 'main\n',
  'other/apps/second.lnk': 'main\n',
  'other/templates/portal.html': "<h2>Other</h2>{% block 'first/blocks/latest?tag=b' %}{% block 'first/blocks/all' %}",
  'other/templates/article.html': "<h2>{{ context.content.title }}</h2>{% block 'first/blocks/current' %}",
  'main/apps/second/blocks/item.html': '{{ context.content.title }}',
  'main/templates/portal.html':
    "<h1>{{ 'now' | date: '%Y' }}</h1>{% block 'first/blocks/big' %}{% block 'first/blocks/latest?tag=b' %}{% block 'first/blocks/item' %}{% block 'first/blocks/whole' %}",
  'main/templates/article.html':
    "<h1>{{ context.content.title }}</h1>{% block 'second/blocks/item' %}{% block 'first/blocks/shown' %}",
  'main/rules.yaml': '- append: main\n  include: /@@apps/first/blocks/option\n',
});

/** What differs between two requests for the same page: the tokens and the marks of its visitor, the request's id, and the server's port. */
const plain = (text: string, { url }: Host): string =>
  text
    .replaceAll(url, 'http://host')
    .replace(/(data-error="\w+">[^<]*<code>)[^<]*/g, '$1')
    .replace(/(name="(?:_csrf|_shown)" value=")[^"]*/g, '$1')
    .replace(/"since":"[^"]*"/g, '')
    .replace(/data-apps-challenge="[^"]*"/g, '');

const paths = [
  ...functions.map((name) => `/site/@@apps/first/blocks/${name}`),
  ...functions.map((name) => `/site/@@apps/first/blocks/${name}/${name}`),
  ...['?tag=a', '?tag=b', '?tag=c&utm=1', '?utm=2'].map((query) => `/site/@@apps/first/blocks/latest${query}`),
  ...['?id=r1', '?id=r2', '?id=none'].map((query) => `/site/@@apps/first/blocks/one${query}`),
  ...['/site/', '/site/?tag=a', '/site/articles/first', '/site/articles/second', '/site/@@apps/first/blocks/item'],
  '/site/articles/first/@@apps/first/blocks/current',
];

describe.each(await availableClients())('random answers, on %s', (client) => {
  const database = useDatabase(client);
  const options = (exactCache: boolean) => () => ({
    themesDirectory: themes.directory,
    env: { ...database().address.env, ...configured({ apps: { exactCache }, sessionTime: 24 * 60 * 60 }) },
  });
  const stage = useStage(options(true));
  const other = useTwin(stage, options(true));
  const without = useTwin(stage, options(false));
  const documents: string[] = [];

  beforeAll(async () => {
    await grantArticles(stage.host, 'Public');
    for (const slug of ['first', 'second']) documents.push(await createArticle(stage.host, slug));
    for (let n = 1; n <= 6; n += 1)
      await stage.keep('first', `r${n}`, { block: 'item', tag: 'abc'[n % 3] ?? '', size: n });
    // Each change of an article makes a record, in a job of one of the processes.
    await stage.host.run(async (strapi, contentType) => {
      const calls = { app: 'first', block: 'tasks', function: 'change' };
      const data = { name: 'changed', enabled: true, contentType, event: 'update', ...calls };
      await strapi.db.query('plugin::apps.rule').create({ data });
    }, article);
    // Their groups exist before the apps name them.
    for (const one of people) await stage.csrf(one);
  });

  const random = randomNumbers(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const times = <T>(count: number, make: () => T) => Array.from({ length: count }, make);
  const chosen = <T>(list: readonly T[]): T => list[below(list.length)] as T;

  const json = async (host: Host, method: string, path: string, body?: object, who = 'mona') => {
    const as = await stage.credential(who);
    const token = { 'x-csrf-token': await stage.csrf(who), accept: 'application/json' };
    const { status } = await send(host.url, { method, path: `/site/@@apps/${path}`, as, headers: token, json: body });
    // A record may be gone, or there already; its requester may do all of this.
    expect([200, 201, 204, 404, 409], `${method} ${path}`).toContain(status);
  };
  const documentsOf = (host: Host, method: string, params: object) =>
    host.run(
      async (strapi, uid, name, given) => {
        const service = strapi.documents(uid as never) as unknown as Record<string, (one: object) => Promise<unknown>>;
        await service[name]?.(given);
      },
      article,
      method,
      params,
    );

  /** An administrator's choice takes other processes a second: it comes more rarely. */
  const isChoice = new Set(['options', 'theme']);
  const names = () => Object.keys(writes).filter((name) => !isChoice.has(name) || random() < 0.2);
  /** A job may be run by any of the processes: the comparison waits until it is done. */
  const makesJobs = new Set(['job', 'content']);
  const item = () => ({ block: 'item', tag: chosen(['a', 'b', 'c']), size: below(10) });
  const writes: Record<string, (host: Host) => Promise<unknown>> = {
    create: (host) => json(host, 'POST', 'first', item()),
    put: (host) => json(host, 'PUT', `first/record/r${below(9)}`, item()),
    patch: (host) => json(host, 'PATCH', `first/record/r${below(9)}`, { size: below(10) }),
    delete: (host) => json(host, 'DELETE', `first/record/r${below(9)}`),
    bulk: (host) => json(host, 'POST', 'first/records', [item(), item(), item()]),
    second: (host) => json(host, 'POST', 'second', { a: 1 }),
    form: (host) => saveForm(host, item()),
    content: (host) =>
      documentsOf(host, 'update', {
        documentId: chosen(documents),
        data: { title: `T${below(100)}` },
        status: 'published',
      }),
    unpublish: (host) => documentsOf(host, 'unpublish', { documentId: documents[1] }),
    publish: (host) => documentsOf(host, 'publish', { documentId: documents[1] }),
    rights: (host) => toggleRights(host),
    panel: (host) => json(host, 'PATCH', `first/record/r${below(9)}`, { size: below(10) }, 'root'),
    job: (host) => json(host, 'POST', 'first/blocks/tasks/add', {}),
    role: (host) => setRole(host, 'abel', chosen(['readers', 'authors'])),
    theme: (host) => choose(host, 'theme', { theme: chosen(['main', 'other']) }),
    options: (host) => setOptions(host, { colour: chosen(['red', 'green', 'blue']) }),
    file: () => themes.write('main/apps/first/blocks/big.html', `<p>${below(100)} {big}</p>`),
    layout: () => themes.write('main/templates/article.html', `<h1>${below(100)} {{ context.content.title }}</h1>`),
  };

  test(
    `${answers} answers are equal to fresh ones (seed ${seed})`,
    async () => {
      let hits = 0;
      for (let done = 0; done < answers; ) {
        const name = chosen(names());
        if (random() < 0.5) {
          await writes[name]?.(chosen([stage.host, other]));
          if (makesJobs.has(name)) await jobsDone();
        }
        // Some paths are repeated, so that kept answers are compared too.
        const wanted = [...times(4, () => chosen(paths)), ...paths];
        const reads = times(
          Math.min(below(40), answers - done),
          () => wanted[below(random() < 0.7 ? 4 : wanted.length)],
        );
        await Promise.all(
          reads.map(async (path = '', at) => {
            const who = chosen(people);
            const headers = {
              accept: random() < 0.8 ? 'text/html' : 'application/json',
              'accept-language': chosen(['de', 'fr']),
            };
            const hosts = [chosen([stage.host, other]), without];
            const as = await stage.credential(who);
            const [kept, fresh] = await Promise.all(hosts.map((host) => answerOf(host, path, headers, as)));
            expect(fresh?.text.startsWith('401') && as !== null, `a session of ${who} has ended`).toBe(false);
            // On a busy machine logic may end by its time, in either of them.
            if ([kept, fresh].some((one) => one?.text.includes('ran longer than'))) return;
            expect(kept?.text, `${path} after ${name}, answer ${done + at}, seed ${seed}`).toBe(fresh?.text);
            if (kept?.isHit) hits += 1;
          }),
        );
        done += reads.length;
      }
      expect(hits).toBeGreaterThan(answers / 20);
    },
    answers * 1_000 + 60_000,
  );

  async function answerOf(host: Host, path: string, headers: Record<string, string>, as: Credential) {
    const answer = await send(host.url, { method: 'GET', path, headers, as });
    return { text: `${answer.status} ${plain(answer.text, host)}`, isHit: answer.headers['x-apps-cache'] === 'hit' };
  }

  /** A form of anonymous, as a program sends it. */
  async function saveForm(host: Host, { tag, size }: { tag: string; size: number }): Promise<void> {
    const headers = { 'x-csrf-token': await stage.csrf('anonymous'), accept: 'text/html' };
    const form = { tag, size: String(size), _save: 'Save' };
    const { status } = await send(host.url, { method: 'POST', path: '/site/@@apps/first/blocks/item', headers, form });
    expect(status).toBe(303);
  }

  /** Anonymous may read articles, or not. */
  async function toggleRights(host: Host): Promise<void> {
    await host.run(async (strapi, action) => {
      const permissions = strapi.db.query('plugin::users-permissions.permission');
      const role = await strapi.db.query('plugin::users-permissions.role').findOne({ where: { type: 'public' } });
      const [known] = await permissions.findMany({ where: { action, role: role.id } });
      if (known) await permissions.delete({ where: { id: known.id } });
      else await permissions.create({ data: { action, role: role.id } });
    }, `${article}.find`);
  }

  async function setRole(host: Host, username: string, name: string): Promise<void> {
    await host.run(
      async (strapi, username, name) => {
        const role = await strapi.db.query('plugin::users-permissions.role').findOne({ where: { name } });
        const users = strapi.db.query('plugin::users-permissions.user');
        await users.update({ where: { username }, data: { role: role.id } });
      },
      username,
      name,
    );
  }

  /** An administrator's choice for the site. Other processes see it within a second, with the cache and without. */
  async function choose(host: Host, what: string, json: object): Promise<string> {
    const as = await stage.credential('root');
    const answer = await send(host.url, { method: 'PUT', path: `/apps/sites/site/${what}`, as, json });
    expect(answer.status, answer.text).toBeLessThan(300);
    await new Promise((resolve) => setTimeout(resolve, 1_050));
    return answer.text;
  }

  /** Each is made of those before it. */
  let optionsRevision: string | null = null;
  async function setOptions(host: Host, wanted: object): Promise<void> {
    const answer = await choose(host, 'apps/first/options', { options: wanted, revision: optionsRevision });
    ({ revision: optionsRevision } = JSON.parse(answer) as AppOptions);
  }

  const jobsDone = () =>
    expect
      .poll(async () => {
        const { jobs } = await stage.host.run((strapi) => strapi.plugin('apps').service('jobs').list({}, { limit: 9 }));
        return (jobs as { state: string }[]).filter(({ state }) => state !== 'done');
      })
      .toEqual([]);
});

async function createArticle(host: Host, slug: string): Promise<string> {
  return host.run(
    async (strapi, uid, slug) => {
      const data = { title: slug, slug };
      const made = await strapi.documents(uid as never).create({ data: data as never, status: 'published' } as never);
      return String((made as { documentId: string }).documentId);
    },
    article,
    slug,
  );
}
