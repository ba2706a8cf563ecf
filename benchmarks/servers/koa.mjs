/** The bare Koa server (koa-process.mjs), as the limit of what a server with this database could do. */
import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from '../../scripts/prepare.mjs';
import { bulkNotes, collections, noteAt, positions, searches, searchWords } from '../support/dataset.mjs';
import { page } from '../support/page.mjs';
import { execute, fillTable } from '../support/tables.mjs';
import { tables, wordIndexes } from './koa-database.mjs';
import { mixedRequests, searchRequests } from './requests.mjs';

const versionOf = (name) => JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')).version;

const get = (path) => ({ method: 'GET', path });
const send = (method, path, body) => ({
  method,
  path,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});
const find = (name) => searches.map(({ author, above }) => get(`/${name}/search?author=${author}&above=${above}`));
const words = (name) => searchWords.map((word) => get(`/${name}/words?word=${word}`));

const reads = positions.map((at) => get(`/notes/n${at}`));

const requests = {
  get: reads,
  ...searchRequests(find, words),
  create: [send('POST', '/created', noteAt(1))],
  bulk: [send('POST', '/created/bulk', bulkNotes)],
  increment: [send('POST', '/notes/n5/increment', {})],
  mixed: mixedRequests(reads, (at) => send('PATCH', `/notes/n${at}`, { title: `Changed ${at}` })),
  function: [get('/functions/none')],
  'function-one': [get('/functions/one')],
  'function-four': [get('/functions/four')],
  page: page.requests('/page').page,
};

export const koa = {
  title: 'bare Koa',
  limit: true,
  databases: ['sqlite', 'postgres'],
  version: () => `${versionOf('koa')} with better-sqlite3 ${versionOf('better-sqlite3')} or pg ${versionOf('pg')}`,
  settings:
    'no rights, no checks, prepared statements; WAL and `synchronous = NORMAL` on SQLite, 10 connections to PostgreSQL',
  async start({ database, command, names }) {
    for (const name of names) {
      await execute(database, tables[database.kind](name));
      await fillTable(database, name, collections[name], (at) => ({ id: `n${at}` }));
      await execute(database, wordIndexes[database.kind](name));
    }
    const [execPath, ...execArgv] = command(process.execPath);
    const child = fork(fileURLToPath(new URL('koa-process.mjs', import.meta.url)), {
      execPath,
      execArgv,
      env: { ...process.env, NODE_ENV: 'production', BENCH_DATABASE: JSON.stringify(database) },
    });
    const url = await new Promise((done, failed) => {
      child.once('message', (message) => done(message.url));
      child.once('exit', (code) => failed(new Error(`The Koa server ended with ${code}`)));
    });
    return { url, pid: child.pid, requests, stop: async () => void child.kill('SIGKILL') };
  },
};
