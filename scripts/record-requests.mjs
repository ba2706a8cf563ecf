/**
 * Records the answers to a fixed set of requests, to show that a change of the code has changed no answer:
 *
 *   node scripts/record-requests.mjs <file>              starts hosts on fresh databases, writes one line a request
 *   node scripts/record-requests.mjs --compare <a> <b>   prints the requests whose answers differ; ends with 1 then
 *
 * The requests are in record-requests/. Two recordings of one commit are the same, byte for byte.
 */
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeFiles } from './files.mjs';
import { build, root, say, writeSecrets } from './prepare.mjs';
import { createMemory, payload, send } from './record-requests/client.mjs';
import { differences } from './record-requests/compare.mjs';
import { files } from './record-requests/files.mjs';
import { createNormaliser, normalisedHeaders } from './record-requests/normalise.mjs';
import { jsonRequests } from './record-requests/requests-json.mjs';
import { demoRequests, pageRequests } from './record-requests/requests-pages.mjs';
import { freePort } from './server-process.mjs';

const here = dirname(fileURLToPath(import.meta.url));

/** Hosts and their requests; `app` is an app that gives everyone a CSRF token. */
const stages = [
  { name: 'recorded', theme: 'recorded', demo: 'false', app: 'notes', requests: [...jsonRequests, ...pageRequests] },
  { name: 'demo', theme: 'demo', demo: 'true', app: 'rating', requests: demoRequests },
];

/** Five digits: an address in an answer has the same length in every run. */
async function longPort() {
  const port = await freePort();
  return port >= 10_000 ? port : longPort();
}

/** Starts a host in `folder`. @returns its address, the credentials of its users, and how to stop it */
async function startHost({ theme, demo }, folder) {
  const themes = join(folder, 'themes');
  cpSync(join(root, 'themes'), themes, { recursive: true });
  writeFiles(themes, files);
  const env = {
    ...process.env,
    NODE_ENV: 'test',
    STRAPI_TELEMETRY_DISABLED: 'true',
    SERVE_ADMIN: 'false',
    HOST: '127.0.0.1',
    PORT: String(await longPort()),
    PUBLIC_URL: '',
    DATABASE_CLIENT: 'sqlite',
    DATABASE_FILENAME: join(folder, 'data.db'),
    APPS_DEMO: demo,
    APPS_SITE: 'site',
    APPS_THEME: theme,
    APPS_THEMES_DIRECTORY: themes,
    APP_KEYS: randomBytes(16).toString('hex'),
  };
  const child = fork(join(here, 'record-requests', 'host.cjs'), { cwd: root, env, silent: true, execArgv: [] });
  const printed = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => printed.push(String(text)));
  const ended = new Promise((done) => child.once('exit', done));
  const started = await new Promise((resolve, reject) => {
    child.once('message', resolve);
    ended.then(() => reject(new Error(`The host did not start:\n${printed.join('')}`)));
  });
  const stop = async () => {
    child.kill('SIGTERM');
    const timeout = setTimeout(() => child.kill('SIGKILL'), 10_000);
    await ended;
    clearTimeout(timeout);
  };
  return { ...started, stop };
}

const reading = ['GET', 'HEAD', 'OPTIONS'];

/** Sends the requests of a stage one after the other. @returns its lines of the recording */
async function recordStage({ app, requests, name }, { url, credentials }) {
  const normalise = createNormaliser(url);
  const memory = createMemory();
  const tokens = {};
  const authorization = (who) => (credentials[who] ? { authorization: credentials[who] } : {});
  const csrfOf = async (who) => {
    const headers = { accept: 'application/json', ...authorization(who) };
    tokens[who] ??= (await send(url, { method: 'GET', path: `/site/@@apps/${app}`, headers })).headers['x-csrf-token'];
    return tokens[who] ?? '';
  };
  const lines = [];
  for (const [line, options = {}] of requests) {
    const { as = 'anonymous', accept = 'application/json', basic, csrf, jar, ...rest } = memory.fill(options);
    const [, method, target] = /^(\S+) (.*)$/.exec(memory.fill(line));
    const { type, body } = payload(rest);
    const headers = {
      accept,
      ...(type ? { 'content-type': type } : {}),
      ...authorization(as),
      ...(basic ? { authorization: `Basic ${Buffer.from(basic).toString('base64')}` } : {}),
      ...(jar ? { cookie: memory.cookies(jar) } : {}),
      ...(reading.includes(method) || csrf === false || jar ? {} : { 'x-csrf-token': await csrfOf(as) }),
      ...rest.headers,
    };
    const path = target.startsWith('/') ? target : `/site/@@apps/${target}`;
    const answer = await send(url, { method, path, headers, body });
    memory.learn(options, answer);
    const { keep: _, keepNext: __, keepRecord: ___, as: ____, ...shown } = options;
    const text = `${name} ${as} ${line} ${JSON.stringify(shown).slice(0, 200)}`;
    const times = lines.filter((one) => one.request.startsWith(`${text} #`)).length + 1;
    lines.push({
      request: `${text} #${times}`,
      status: answer.status,
      headers: normalisedHeaders(answer.headers, normalise),
      body: normalise(answer.text),
    });
  }
  return lines;
}

async function record(file) {
  writeSecrets();
  build('pluginServer', 'host');
  const lines = [];
  for (const stage of stages) {
    const folder = mkdtempSync(join(tmpdir(), 'apps-record-'));
    say(`Recording: ${stage.name}`);
    try {
      const host = await startHost(stage, folder);
      lines.push(...(await recordStage(stage, host).finally(host.stop)));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  say(`${lines.length} answers recorded in ${file}`);
}

function compare(first, second) {
  const [before, after] = [first, second].map((file) =>
    readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  );
  const found = differences(before, after);
  for (const line of found) console.log(line);
  say(`${before.length} and ${after.length} answers, ${found.length} differ`);
  if (found.length > 0) process.exitCode = 1;
}

const [option, ...args] = process.argv.slice(2);
if (option === '--compare' && args.length === 2) compare(...args);
else if (option && !option.startsWith('-') && args.length === 0) await record(option);
else {
  console.error('Usage: record-requests.mjs <file>  or  record-requests.mjs --compare <before> <after>');
  process.exitCode = 2;
}
