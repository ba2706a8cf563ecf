/** Starting servers: a free port, the address that Strapi will use, and a Strapi that ends with its caller. */
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { constants } from 'node:os';
import { join } from 'node:path';
import { root } from './prepare.mjs';

/** The parent process: npm's shell, which ends when npm gets a signal, without passing it on. */
const parent = process.ppid;

/** Host and port that Strapi will use: from the environment, else from `.env`, else as in config/server.ts. */
export function serverAddress() {
  const text = existsSync(join(root, '.env')) ? readFileSync(join(root, '.env'), 'utf8') : '';
  const read = (name) =>
    process.env[name] || new RegExp(`^[ \\t]*${name}[ \\t]*=[ \\t]*"?([\\w.:-]+)`, 'm').exec(text)?.[1];
  return { host: read('HOST') ?? '0.0.0.0', port: Number(read('PORT') ?? 1337) };
}

/**
 * A port on which nothing listens. The system gives none of these to an outgoing connection, which could otherwise take the
 * port before a server has started.
 */
export async function freePort() {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = randomInt(11_000, 31_000);
    if (!(await listenProblem({ host: '127.0.0.1', port }))) return port;
  }
  throw new Error('Found no free port between 11000 and 31000.');
}

/** Resolves to null when the address can be listened on, else to the error's code, e.g. EADDRINUSE. */
export function listenProblem({ host, port }) {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', ({ code }) => resolve(code));
    server.listen({ host, port }, () => server.close(() => resolve(null)));
  });
}

/** Runs a Node.js program in the repository's root, its output passed through. */
export const spawnNode = (args, env = {}) =>
  spawn(process.execPath, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } });

/** Calls `stop` with the signal that is to end this process, also when npm's shell has ended without passing one on. */
export function onStop(stop) {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => stop(signal));
  if (process.env.npm_lifecycle_event) setInterval(() => process.ppid === parent || stop('SIGTERM'), 500).unref();
}

/** Ends this process as its child has ended. */
export function exitAs(code, signal) {
  process.exit(signal ? 128 + constants.signals[signal] : code);
}
