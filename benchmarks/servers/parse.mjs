/** Parse Server with PostgreSQL (it has no SQLite), by its REST interface. */
import { fileURLToPath } from 'node:url';
import { freePort } from '../../scripts/server-process.mjs';
import { versionOf } from '../peers/places.mjs';
import { bulkNotes, collections, noteAt, positions, searches, searchWords } from '../support/dataset.mjs';
import { startProcess } from '../support/process.mjs';
import { execute, fillTable } from '../support/tables.mjs';
import { mixedRequests, searchRequests } from './requests.mjs';

const headers = { 'x-parse-application-id': 'bench', 'content-type': 'application/json' };

/** Sends a request as the master. @throws when it fails */
async function ask(url, method, path, body) {
  const answer = await fetch(url + path, {
    method,
    headers: { ...headers, 'x-parse-master-key': 'master' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
  return answer.json();
}

const fields = {
  title: { type: 'String' },
  body: { type: 'String' },
  author: { type: 'String' },
  total: { type: 'Number' },
};

/** The class, its records, and indexes of the two items and of the words. */
async function makeClass(url, database, name) {
  await ask(url, 'POST', `/parse/schemas/${name}`, { className: name, fields });
  const now = new Date();
  const row = (at) => ({ objectId: `n${at}`, createdAt: now, updatedAt: now });
  await execute(database, [
    `create index on "${name}" (author)`,
    `create index on "${name}" (total)`,
    ...(collections[name] > 0 ? [`create index on "${name}" using gin (to_tsvector('english', body))`] : []),
  ]);
  await fillTable(database, name, collections[name], row);
}

function requestsFor(session) {
  const send = (method, path, body, more) => ({
    method,
    path: `/parse/${path}`,
    headers: { ...headers, ...more },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const get = (more) => positions.map((at) => send('GET', `classes/notes/n${at}`, undefined, more));
  const where = (name, filter, rest) =>
    send('GET', `classes/${name}?where=${encodeURIComponent(JSON.stringify(filter))}&limit=20${rest}`);
  const find = (name) =>
    searches.map(({ author, above }) => where(name, { author, total: { $gt: above } }, '&order=total'));
  const words = (name) => searchWords.map((word) => where(name, { body: { $text: { $search: { $term: word } } } }, ''));
  const created = bulkNotes.map((body) => ({ method: 'POST', path: '/parse/classes/created', body }));
  return {
    get: get(),
    'get-user': get({ 'x-parse-session-token': session }),
    ...searchRequests(find, words),
    create: [send('POST', 'classes/created', noteAt(1))],
    bulk: [send('POST', 'batch', { requests: created })],
    increment: [send('PUT', 'classes/notes/n5', { total: { __op: 'Increment', amount: 1 } })],
    mixed: mixedRequests(get(), (at) => send('PUT', `classes/notes/n${at}`, { title: `Changed ${at}` })),
    function: [send('POST', 'functions/none', {})],
    'function-one': [send('POST', 'functions/one', {})],
    'function-four': [send('POST', 'functions/four', {})],
  };
}

export const parse = {
  title: 'Parse Server',
  databases: ['postgres'],
  version: () => versionOf('parse', 'parse-server'),
  settings: 'default class permissions (open to all); cloud functions, which have no sandbox; bulk by `/batch`',
  async start({ database, folder, command, names }) {
    versionOf('parse', 'parse-server');
    const { host, port, user, name } = database;
    const url = `http://127.0.0.1:${await freePort()}`;
    const server = await startProcess({
      command,
      args: [fileURLToPath(new URL('parse-process.mjs', import.meta.url))],
      env: { BENCH_DATABASE: `postgres://${user}@${host}:${port}/${name}`, PORT: new URL(url).port },
      cwd: folder,
      url: `${url}/parse/health`,
    });
    try {
      for (const one of names) await makeClass(url, database, one);
      const account = { username: 'bench', password: 'Bench-Secret-1' };
      await ask(url, 'POST', '/parse/users', account);
      const { sessionToken } = await ask(url, 'POST', '/parse/login', account);
      return { url, ...server, requests: requestsFor(sessionToken) };
    } catch (error) {
      await server.stop();
      throw error;
    }
  },
};
