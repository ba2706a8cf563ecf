/** The scenarios over HTTP: one record read and written, by all kinds of requesters, against Strapi's own interface. */
import { requestText } from '../support/load.mjs';
import { makeRequesters } from '../support/requesters.mjs';

/** Makes the data, the permissions and the requesters; returns what the requests need. */
export async function seedHttp(host) {
  const seed = await host.run(async (strapi) => {
    const role = await strapi.db.query('plugin::users-permissions.role').findOne({ where: { type: 'public' } });
    for (const action of ['find', 'findOne', 'create'])
      await strapi.db
        .query('plugin::users-permissions.permission')
        .create({ data: { action: `api::article.article.${action}`, role: role.id } });
    strapi.server.router.patch('/bench-update', async (ctx) => {
      await strapi.db.connection.raw('update apps_records set version = version + 1 where id = 2');
      ctx.body = {};
    });
    const article = await strapi.documents('api::article.article').create({
      data: { title: 'Bench', slug: 'bench', summary: 'Text of some length', body: 'More text' },
      status: 'published',
    });
    const store = strapi.plugin('apps').service('records').store();
    for (const app of ['plain', 'three'])
      await store.transact((unit) =>
        unit.create(
          { site: 'site', app },
          {
            id: 'bench',
            items: { title: 'Bench', summary: 'Text of some length', body: 'More text', total: 0 },
            creator: null,
          },
        ),
      );
    return { article: article.documentId };
  });
  const csrf = (await fetch(`${host.url}/site/@@apps/plain`, { headers: { accept: 'application/json' } })).headers.get(
    'x-csrf-token',
  );
  return { ...seed, ...(await host.run(makeRequesters)), csrf };
}

/** A peer that gets one request after the other; every answer must have the status. */
function asked(host, name, request, status, goal) {
  return {
    name,
    goal,
    async measure({ seconds, load }) {
      let number = 0;
      const next = typeof request === 'function' ? () => requestText(request(number++)) : () => text;
      const text = typeof request === 'function' ? '' : requestText(request);
      const { statuses, answered, seconds: took } = await load(host.url, next, { seconds });
      if (Object.keys(statuses).join() !== String(status)) throw new Error(`${name}: ${JSON.stringify(statuses)}`);
      return { rate: answered / took, requests: answered };
    },
  };
}

export function httpScenarios(host, { jwt, token, article, csrf }) {
  const json = { Accept: 'application/json' };
  const record = (headers = {}) => ({ path: '/site/@@apps/plain/record/bench', headers: { ...json, ...headers } });
  const get = (name, headers, goal) => asked(host, name, record(headers), 200, goal);
  const basic = Buffer.from('bench.Bench-Secret-1').toString('base64');
  const writing = { ...json, 'X-CSRF-TOKEN': csrf, 'Content-Type': 'application/json' };
  const body = JSON.stringify({ title: 'Bench', summary: 'Text of some length', body: 'More text' });
  const run = Date.now().toString(36);
  const strapiBody = (number) =>
    JSON.stringify({
      data: {
        title: 'Bench',
        slug: `bench-${run}-${number}-${Math.random().toString(36).slice(2)}`,
        summary: 'Text of some length',
        body: 'More text',
      },
    });
  return [
    {
      name: 'get one record, anonymous',
      peers: [
        get('GET record, anonymous'),
        asked(host, 'a bare root route (/_health)', { path: '/_health' }, 204, 'at least 0.8'),
        asked(
          host,
          "Strapi's GET /api/articles/<id>",
          { path: `/api/articles/${article}`, headers: json },
          200,
          'at least 6',
        ),
      ],
    },
    ...[
      ['JWT user', { Authorization: `Bearer ${jwt}` }],
      ['API token', { Authorization: `Bearer ${token}` }],
      ['Basic', { Authorization: `Basic ${basic}` }],
    ].map(([who, headers]) => ({
      name: `get one record, ${who}`,
      goal: 'at least 0.8',
      peers: [get(`GET record, ${who}`, headers), get('GET record, anonymous', {})],
    })),
    {
      name: 'create one record',
      goal: 'at least 5',
      peers: [
        asked(host, 'POST record', { method: 'POST', path: '/site/@@apps/plain', headers: writing, body }, 201),
        asked(
          host,
          "Strapi's POST /api/articles",
          (number) => ({
            method: 'POST',
            path: '/api/articles',
            headers: { ...json, 'Content-Type': 'application/json' },
            body: strapiBody(number),
          }),
          201,
        ),
      ],
    },
    {
      // Each counts another value: what it has counted is checked at the commit, without rivals.
      name: 'create after a count',
      peers: ['counted', 'plain'].map((block) =>
        asked(
          host,
          block === 'counted' ? 'POST record, with a count in validate' : 'POST record, with an empty validate',
          (number) => ({
            method: 'POST',
            path: '/site/@@apps/places',
            headers: writing,
            body: JSON.stringify({ block, total: number }),
          }),
          201,
        ),
      ),
    },
    {
      name: '50 concurrent likes of one record',
      goal: 'at least 0.3',
      peers: [
        likesByHttp('$inc over HTTP, 50 at a time', host, '/site/@@apps/plain/record/bench', writing),
        likesByHttp('a bare route with one UPDATE each, 50 at a time', host, '/bench-update', writing),
        likes('the store, 50 at a time', () =>
          host.run(async (strapi) => {
            const store = strapi.plugin('apps').service('records').store();
            const began = performance.now();
            for (let round = 0; round < 10; round++)
              await Promise.all(
                Array.from({ length: 50 }, () =>
                  store.transact(
                    (unit) => unit.update({ site: 'site', app: 'plain' }, 'bench', { inc: { total: 1 } }),
                    { key: { site: 'site', app: 'plain' }, id: 'bench' },
                  ),
                ),
              );
            return { rate: 500 / ((performance.now() - began) / 1000), requests: 500 };
          }),
        ),
        likes('one UPDATE statement each', () =>
          host.run(async (strapi) => {
            const began = performance.now();
            const one = () => strapi.db.connection.raw('update apps_records set version = version + 1 where id = 2');
            for (let round = 0; round < 10; round++) await Promise.all(Array.from({ length: 50 }, one));
            return { rate: 500 / ((performance.now() - began) / 1000), requests: 500 };
          }),
        ),
      ],
    },
  ];
}

const likes = (name, measure) => ({ name, measure });

function likesByHttp(name, host, path, headers) {
  const text = requestText({ method: 'PATCH', path, headers, body: '{"$inc":{"total":1}}' });
  return likes(name, async ({ load }) => {
    const { answered, seconds, statuses } = await load(host.url, () => text, {
      connections: 50,
      count: 500,
      seconds: 60,
    });
    if (statuses[200] !== answered) throw new Error(JSON.stringify(statuses));
    return { rate: answered / seconds, requests: answered };
  });
}
