/** Parse Server on PostgreSQL with cloud functions. Started by parse.mjs with BENCH_DATABASE (an address) and PORT. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { packageFolder } from '../peers/places.mjs';

const require = createRequire(join(packageFolder('parse', 'parse-server'), 'package.json'));
const express = require('express');
const { ParseServer } = require(packageFolder('parse', 'parse-server'));

const port = Number(process.env.PORT);

function cloud({ Cloud, Query }) {
  const total = async (at) => (await new Query('notes').get(`n${at}`)).get('total');
  Cloud.define('none', () => ({ total: 1 }));
  Cloud.define('one', async () => ({ total: await total(1) }));
  Cloud.define('four', async () => {
    let sum = 0;
    for (const at of [1, 2, 3, 4]) sum += await total(at);
    return { total: sum };
  });
}

const server = new ParseServer({
  databaseURI: process.env.BENCH_DATABASE,
  appId: 'bench',
  masterKey: 'master',
  serverURL: `http://127.0.0.1:${port}/parse`,
  cloud,
  allowClientClassCreation: true,
  silent: true,
  logLevel: 'error',
  logsFolder: null,
  encodeParseObjectInCloudFunction: true,
});
await server.start();
express().use('/parse', server.app).listen(port, '127.0.0.1');
