/** `npm start`: makes everything ready that is not, then runs Strapi until it is told to stop. */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { build, checkNode, install, root, say, writeSecrets } from './prepare.mjs';

/** What npm has started us with: a shell, which ends when npm is told to stop, without passing that on. */
const parent = process.ppid;

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
  install();
  writeSecrets();
  build('plugin', 'host', 'panel');
  serve();
} catch (error) {
  console.error(`> ${error.message}`);
  process.exitCode = 1;
}
