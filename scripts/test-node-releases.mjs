/**
 * `npm run test:node-releases [20 22 …]`: the sandbox's tests on several versions of Node.js, each installed by the npm package
 * `node`, each with the isolated-vm that belongs to it. Needs the npm registry; `npm test` does not run it.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { root, say } from './prepare.mjs';

const require = createRequire(import.meta.url);
const versions = process.argv.length > 2 ? process.argv.slice(2) : ['20', '22', '24', '26'];
const suite = ['plugins/apps/server/src/logic', 'plugins/apps/sandbox'];

/** The release of isolated-vm for each Node.js, newest first: as sandbox/src/isolated-vm.ts names them. */
const releases = [
  [24, '7.0.1'],
  [22, '6.2.0'],
  [20, '5.0.4'],
];

const npm = (folder, args, env = {}) => {
  const { status } = spawnSync('npm', [...args, '--prefix', folder, '--no-audit', '--no-fund', '--loglevel=error'], {
    stdio: 'inherit',
    cwd: folder,
    env: { ...process.env, ...env },
  });
  if (status !== 0) throw new Error(`npm ${args.join(' ')} failed`);
};

/** A folder with that Node.js and its isolated-vm, made once. */
function prepare(version) {
  const folder = join(root, '.cache', 'nodes', version);
  const node = join(folder, 'node_modules', 'node', 'bin', 'node');
  const [, release] = releases.find(([lowest]) => Number(version) >= lowest);
  mkdirSync(folder, { recursive: true });
  if (!existsSync(join(folder, 'package.json'))) writeFileSync(join(folder, 'package.json'), '{"private":true}\n');
  if (!existsSync(node)) npm(folder, ['install', `node@${version}`]);
  const path = `${dirname(node)}${delimiter}${process.env.PATH}`;
  if (!existsSync(join(folder, 'node_modules', 'isolated-vm'))) {
    npm(folder, ['install', `isolated-vm@${release}`], { PATH: path });
  }
  return { node, path, modules: join(folder, 'node_modules') };
}

/** Runs the suite on that Node.js; the harness puts a link to its isolated-vm beside the runner that it builds. */
function runOn(version) {
  const { node, modules, path } = prepare(version);
  const vitest = join(dirname(require.resolve('vitest/package.json')), 'vitest.mjs');
  const env = { ...process.env, PATH: path, APPS_ISOLATED_VM: modules, NODE_OPTIONS: '--no-node-snapshot' };
  const { status } = spawnSync(node, [vitest, 'run', '--project=unit', ...suite], { cwd: root, stdio: 'inherit', env });
  return status === 0;
}

const results = versions.map((version) => {
  say(`Node.js ${version}`);
  return [version, runOn(version)];
});
for (const [version, passed] of results) console.log(`Node.js ${version}: ${passed ? 'passed' : 'FAILED'}`);
process.exitCode = results.every(([, passed]) => passed) ? 0 : 1;
