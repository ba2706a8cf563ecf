/** `npm start`: makes everything ready that is not, then runs Strapi until it is told to stop. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { constants } from 'node:os';
import { join } from 'node:path';
import { build, checkNode, install, root, say, writeSecrets } from './prepare.mjs';

/** What npm has started us with: a shell, which ends when npm is told to stop, without passing that on. */
const parent = process.ppid;

/** Host and port that Strapi will use: from the environment, else from `.env`, else as in config/server.ts. */
function serverAddress() {
  const text = existsSync(join(root, '.env')) ? readFileSync(join(root, '.env'), 'utf8') : '';
  const read = (name) =>
    process.env[name] || new RegExp(`^[ \\t]*${name}[ \\t]*=[ \\t]*"?([\\w.:-]+)`, 'm').exec(text)?.[1];
  return { host: read('HOST') ?? '0.0.0.0', port: Number(read('PORT') ?? 1337) };
}

/** Throws when the port is in use: before anything is built, and before the demo prints passwords that lead nowhere. */
function checkPort() {
  const { host, port } = serverAddress();
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', ({ code }) => {
      const cure = `Stop what uses it, or choose another port: PORT=${port + 1} npm start`;
      const problem = code === 'EADDRINUSE' ? 'is in use' : `cannot be used (${code})`;
      reject(new Error(`Port ${port} ${problem}. ${cure}`));
    });
    server.listen({ host, port }, () => server.close(resolve));
  });
}

function serve() {
  say('Starting Strapi');
  const strapi = join(root, 'node_modules', '@strapi', 'strapi', 'bin', 'strapi.js');
  const child = spawn(process.execPath, [strapi, 'start'], { cwd: root, stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  if (process.env.npm_lifecycle_event) setInterval(() => process.ppid === parent || child.kill(), 500).unref();
  child.on('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
}

try {
  checkNode();
  await checkPort();
  install();
  writeSecrets();
  build('plugin', 'host', 'panel');
  serve();
} catch (error) {
  console.error(`> ${error.message}`);
  process.exitCode = 1;
}
