/**
 * Strapi's own REST interface: a Strapi of its own without the plugin, with the middlewares and the database settings of this
 * repository's host. Server functions are controllers, and bulk creation is one that calls `createMany`: Strapi has no address
 * for it.
 */
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../scripts/prepare.mjs';
import { bulkNotes, collections, noteAt, positions, searches, searchWords } from '../support/dataset.mjs';
import { startHost } from '../support/host.mjs';
import { makeRequesters } from '../support/requesters.mjs';
import { strapiEnvironment } from '../support/strapi.mjs';
import { fillTable } from '../support/tables.mjs';
import { mixedRequests, searchRequests } from './requests.mjs';

const schema = (id) => ({
  kind: 'collectionType',
  collectionName: id,
  info: { singularName: `${id}-entry`, pluralName: id, displayName: id },
  options: { draftAndPublish: false },
  attributes: {
    title: { type: 'string' },
    body: { type: 'text' },
    author: { type: 'string' },
    total: { type: 'integer' },
  },
  indexes: ['author', 'total'].map((column) => ({ name: `${id}_${column}_index`, columns: [column] })),
});

/** One content type: its schema and Strapi's own router, controller and service. */
const parts = (id) => {
  const uid = `api::${id}-entry.${id}-entry`;
  const core = (factory) => `module.exports = require('@strapi/strapi').factories.${factory}('${uid}');`;
  return {
    [`content-types/${id}-entry/schema.json`]: JSON.stringify(schema(id)),
    [`routes/${id}-entry.js`]: core('createCoreRouter'),
    [`controllers/${id}-entry.js`]: core('createCoreController'),
    [`services/${id}-entry.js`]: core('createCoreService'),
  };
};

const functions = {
  'routes/function.js': `module.exports = { routes: [
    ...['none', 'one', 'four'].map((name) => ({ method: 'GET', path: '/functions/' + name, handler: 'function.' + name, config: { auth: false } })),
    { method: 'POST', path: '/bulk', handler: 'function.bulk', config: { auth: false } },
  ] };`,
  'controllers/function.js': `
const documents = () => strapi.documents('api::notes-entry.notes-entry');
const total = async (at) => (await documents().findOne({ documentId: 'n' + at })).total;
module.exports = {
  none(ctx) { ctx.body = { total: 1 }; },
  async one(ctx) { ctx.body = { total: await total(1) }; },
  async four(ctx) { let sum = 0; for (const at of [1, 2, 3, 4]) sum += await total(at); ctx.body = { total: sum }; },
  async bulk(ctx) {
    const query = strapi.db.query('api::created-entry.created-entry');
    // The database refuses more rows at once; Strapi does not split them.
    for (let start = 0; start < ctx.request.body.length; start += 100)
      await query.createMany({ data: ctx.request.body.slice(start, start + 100) });
    ctx.body = { created: ctx.request.body.length };
  },
};`,
};

function makeApplication(folder, names) {
  cpSync(join(root, 'dist', 'config'), join(folder, 'dist', 'config'), { recursive: true });
  const files = {
    'package.json': JSON.stringify({
      name: 'strapi-peer',
      private: true,
      dependencies: { '@strapi/plugin-users-permissions': '*', '@strapi/strapi': '*' },
      strapi: { uuid: false },
    }),
    'tsconfig.json': readFileSync(join(root, 'tsconfig.json'), 'utf8'),
    'dist/config/plugins.js': "module.exports = () => ({ 'users-permissions': { config: {} } });",
    'dist/src/index.js': 'module.exports = {};',
    'public/uploads/.gitkeep': '',
    ...Object.fromEntries(
      names.flatMap((id) =>
        Object.entries(parts(id)).map(([path, text]) => [`dist/src/api/${id}-entry/${path}`, text]),
      ),
    ),
    ...Object.fromEntries(Object.entries(functions).map(([path, text]) => [`dist/src/api/function/${path}`, text])),
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
}

/** Runs in the host: permits reading and writing the collections. */
async function permit(strapi, names) {
  const roles = strapi.db.query('plugin::users-permissions.role');
  const [open, member] = await Promise.all(
    ['public', 'authenticated'].map((type) => roles.findOne({ where: { type } })),
  );
  const permissions = strapi.db.query('plugin::users-permissions.permission');
  for (const name of names)
    for (const action of ['find', 'findOne', 'create', 'update'])
      for (const role of [open.id, member.id])
        await permissions.create({ data: { action: `api::${name}-entry.${name}-entry.${action}`, role } });
}

function requestsFor({ jwt, token }) {
  const get = (headers) => positions.map((at) => ({ method: 'GET', path: `/api/notes/n${at}`, headers }));
  const json = { 'content-type': 'application/json' };
  const send = (method, path, body) => ({ method, path, headers: json, body: JSON.stringify(body) });
  const find = (name) =>
    searches.map(({ author, above }) => ({
      method: 'GET',
      path: `/api/${name}?filters[author][$eq]=${author}&filters[total][$gt]=${above}&sort=total:asc&pagination[pageSize]=20&pagination[withCount]=false`,
    }));
  const words = (name) =>
    searchWords.map((word) => ({
      method: 'GET',
      path: `/api/${name}?filters[body][$containsi]=${word}&pagination[pageSize]=20&pagination[withCount]=false`,
    }));
  const run = (name) => [{ method: 'GET', path: `/api/functions/${name}` }];
  const update = (at) => send('PUT', `/api/notes/n${at}`, { data: { title: `Changed ${at}` } });
  return {
    get: get({}),
    'get-token': get({ authorization: `Bearer ${token}` }),
    'get-user': get({ authorization: `Bearer ${jwt}` }),
    ...searchRequests(find, words),
    create: [send('POST', '/api/created', { data: noteAt(1) })],
    bulk: [send('POST', '/api/bulk', bulkNotes)],
    mixed: mixedRequests(get({}), update),
    function: run('none'),
    'function-one': run('one'),
    'function-four': run('four'),
  };
}

export const strapi = {
  title: "Strapi's REST",
  databases: ['sqlite', 'postgres'],
  version: () => JSON.parse(readFileSync(join(root, 'node_modules/@strapi/strapi/package.json'), 'utf8')).version,
  settings:
    'without the plugin; middlewares and database settings of the host; `draftAndPublish` off; `withCount=false`',
  async start({ database, folder, command, names }) {
    makeApplication(folder, names);
    const host = await startHost(strapiEnvironment(database), '', { folder, command });
    await host.run(permit, names);
    const requesters = await host.run(makeRequesters);
    const now = new Date();
    // Strapi stores dates as numbers on SQLite.
    const date = database.kind === 'sqlite' ? now.getTime() : now;
    for (const name of names)
      await fillTable(database, name, collections[name], (at) => ({
        document_id: `n${at}`,
        created_at: date,
        updated_at: date,
        published_at: date,
      }));
    return { url: host.url, pid: host.pid, requests: requestsFor(requesters), stop: host.stop };
  },
};
