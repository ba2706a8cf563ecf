/** `npm start`: prepares the host, then runs Strapi until it gets a signal. */
import { join } from 'node:path';
import { build, checkNode, install, root, say, writeSecrets } from './prepare.mjs';
import { exitAs, listenProblem, onStop, serverAddress, spawnNode } from './server-process.mjs';

/** Throws when the port is in use: before anything is built, and before the demo prints passwords that cannot be used. */
async function checkPort() {
  const { host, port } = serverAddress();
  const code = await listenProblem({ host, port });
  if (code === null) return;
  const cure = `Stop what uses it, or choose another port: PORT=${port + 1} npm start`;
  const problem = code === 'EADDRINUSE' ? 'is in use' : `cannot be used (${code})`;
  throw new Error(`Port ${port} ${problem}. ${cure}`);
}

function serve() {
  say('Starting Strapi');
  const child = spawnNode([join(root, 'scripts', 'serve.mjs')]);
  onStop((signal) => child.kill(signal));
  child.on('exit', exitAs);
}

try {
  checkNode();
  await checkPort();
  install();
  writeSecrets();
  build('pluginServer', 'pluginPanel', 'host', 'panel');
  serve();
} catch (error) {
  console.error(`> ${error.message}`);
  process.exitCode = 1;
}
