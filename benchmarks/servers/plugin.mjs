/** This plugin, in this repository's host. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeFiles } from '../../scripts/files.mjs';
import { root } from '../../scripts/prepare.mjs';
import { bulkNotes, collections, noteAt, positions, searches, searchWords } from '../support/dataset.mjs';
import { startHost } from '../support/host.mjs';
import { page } from '../support/page.mjs';
import { makeRequesters } from '../support/requesters.mjs';
import { strapiEnvironment } from '../support/strapi.mjs';
import { mixedRequests, searchRequests } from './requests.mjs';

const elements = `  author: { type: TEXT, index_type: field }
  total: { type: NUMBER, index_type: field }
`;
const withWords = `${elements}  body: { type: TEXT, index_type: text }\n`;
const rights = (role) => `acl: { rights: { ${role}: ['*'] } }\n`;

const logic = `
const total = (app, at) => app.get_record('n' + at).get('total');
export function none() { return { total: 1 }; }
export function one({ app }) { return { total: total(app, 1) }; }
export function four({ app }) { return { total: [1, 2, 3, 4].reduce((sum, at) => sum + total(app, at), 0) }; }
`;

/** `validate` of each block of bookings: without a read, with a count that only its own address changes, and one that all change. */
const validations = {
  free: '{}',
  own: "{ if (app.count('address == a', { names: { a: request.form.address } }) > 0) invalid('address', 'Once only.'); }",
  shared: "{ if (app.count('day == \"monday\"') > 1e9) invalid(null, 'We are full.'); }",
};
const bookings = Object.entries(validations).flatMap(([id, body]) => [
  [
    `apps/bookings/blocks/${id}.yaml`,
    'elements:\n  day: { type: TEXT, index_type: field }\n  address: { type: TEXT, index_type: field }\n',
  ],
  [`apps/bookings/blocks/${id}.html`, '{day} {address} {_save}'],
  [`apps/bookings/blocks/${id}.js`, `export function validate({ app, invalid, request }) ${body}\n`],
]);

/** The theme: an app for each collection, the functions beside the notes, and the page's blocks. */
function makeTheme(themes, names) {
  const files = {
    ...page.files,
    'apps/notes/blocks/functions.yaml': 'elements: { none: BASIC, one: BASIC, four: BASIC }\n',
    'apps/notes/blocks/functions.js': logic,
    'apps/notes/blocks/functions.html': '',
    'apps/bookings/settings.yaml': rights('editor'),
    ...Object.fromEntries(bookings),
  };
  for (const name of names) {
    files[`apps/${name}/settings.yaml`] = rights('editor');
    // A created record is typed and has two indexes; the searched ones have words too.
    files[`apps/${name}/blocks/note.yaml`] = `elements:\n${name === 'created' ? elements : withWords}`;
    files[`apps/${name}/blocks/note.html`] = '';
  }
  writeFiles(join(themes, 'bench'), files);
}

/** Runs in the host: makes the records of the collections. */
async function seed(strapi, dataset, counts) {
  const { noteAt } = await import(dataset);
  const store = strapi.plugin('apps').service('records').store();
  const records = async function* (count) {
    for (let at = 0; at < count; at += 1) yield { id: `n${at}`, items: noteAt(at), creator: null };
  };
  for (const [app, count] of counts) await store.createMany({ site: 'site', app }, records(count));
  const shown = async function* () {
    yield { id: 'shown', items: { n: 1 }, creator: null };
  };
  await store.createMany({ site: 'site', app: 'page' }, shown());
}

/** Waits until the indexes of the apps are complete, so that none is built while something is measured. */
async function indexed(url, headers, names) {
  const until = performance.now() + 1_200_000;
  for (const name of names)
    for (;;) {
      const body = JSON.stringify({
        query: `total > 0 and author == 'author1'${name === 'created' ? '' : " and 'fox' in body"}`,
        limit: 1,
      });
      const answer = await fetch(`${url}/site/@@apps/${name}/search`, { method: 'POST', headers, body });
      if (answer.ok) break;
      if (answer.status !== 503 || performance.now() > until) throw new Error(await answer.text());
      await new Promise((done) => setTimeout(done, 200));
    }
}

function requestsFor({ jwt, token, csrf }) {
  const json = { accept: 'application/json' };
  const get = (headers) =>
    positions.map((at) => ({
      method: 'GET',
      path: `/site/@@apps/notes/record/n${at}`,
      headers: { ...json, ...headers },
    }));
  const basic = Buffer.from('bench.Bench-Secret-1').toString('base64');
  const writing = { ...json, 'x-csrf-token': csrf, 'content-type': 'application/json' };
  const send = (method, path, body) => ({
    method,
    path: `/site/@@apps/${path}`,
    headers: writing,
    body: JSON.stringify(body),
  });
  const find = (name) =>
    searches.map((names) =>
      send('POST', `${name}/search`, {
        query: 'author == a and total > b',
        names: { a: names.author, b: names.above },
        sort_index: 'total',
        limit: 20,
      }),
    );
  const words = (name) =>
    searchWords.map((word) => send('POST', `${name}/search`, { query: `'${word}' in body`, limit: 20 }));
  const run = (name) => [{ method: 'GET', path: `/site/@@apps/notes/blocks/functions/${name}`, headers: json }];
  const pages = page.requests('/site/');
  // The load puts another number into each request.
  const book = (block) => [send('POST', 'bookings', { block, day: 'monday', address: `${block} [<id>]` })];
  const update = (at) => send('PATCH', `notes/record/n${at}`, { title: `Changed ${at}` });
  return {
    get: get({}),
    'get-token': get({ authorization: `Bearer ${token}` }),
    'get-user': get({ authorization: `Bearer ${jwt}` }),
    'get-basic': get({ authorization: `Basic ${basic}` }),
    ...searchRequests(find, words),
    create: [send('POST', 'created', noteAt(1))],
    bulk: [send('POST', 'created/records', bulkNotes)],
    increment: [send('PATCH', 'notes/record/n5', { $inc: { total: 1 } })],
    mixed: mixedRequests(get({}), update),
    function: run('none'),
    'function-one': run('one'),
    'function-four': run('four'),
    booking: book('free'),
    'booking-own': book('own'),
    'booking-shared': book('shared'),
    ...pages,
    'page-writes': Array.from({ length: 100 }, (_, at) =>
      at === 50 ? send('PATCH', 'page/record/shown', { $inc: { n: 1 } }) : pages['page-reads'][0],
    ),
  };
}

/** Scenarios whose answers are kept until something changes that they depend on. */
const isKept = (id) => /^(?:function|page)/.test(id);

/** The plugin's configuration, put over the host's in its process. */
const configuredAs = (apps) => ({
  NODE_OPTIONS: `--require ${join(root, 'tests/support/configure.cjs')}`,
  TEST_APPS_CONFIG: JSON.stringify(apps),
});

/** @param exactCache whether renderings are kept */
const pluginWith = (exactCache, title) => ({
  title,
  databases: ['sqlite', 'postgres'],
  version: () => JSON.parse(readFileSync(join(root, 'plugins/apps/package.json'), 'utf8')).version,
  settings: `this repository's host, \`exactCache: ${exactCache}\`, no demo; functions in the sandbox, JavaScript`,
  async start({ database, folder, command, names }) {
    const themes = join(folder, 'themes');
    makeTheme(themes, names);
    const env = { ...strapiEnvironment(database), ...configuredAs({ exactCache }) };
    const host = await startHost(env, themes, { command });
    const dataset = new URL('../support/dataset.mjs', import.meta.url).href;
    const counts = names.map((name) => [name, collections[name]]);
    await host.run(seed, dataset, counts);
    const requesters = await host.run(makeRequesters);
    const settings = await fetch(`${host.url}/site/@@apps/notes`, { headers: { accept: 'application/json' } });
    const csrf = settings.headers.get('x-csrf-token');
    await indexed(
      host.url,
      { accept: 'application/json', 'x-csrf-token': csrf, 'content-type': 'application/json' },
      names,
    );
    const all = Object.entries(requestsFor({ ...requesters, csrf }));
    const requests = Object.fromEntries(exactCache ? all.filter(([id]) => isKept(id)) : all);
    const another = () => startHost(env, themes, { command });
    return { url: host.url, pid: host.pid, requests, another, stop: host.stop };
  },
});

export const plugin = pluginWith(false, 'this plugin');
export const kept = pluginWith(true, 'this plugin, renderings kept');
