/** The packages of this repository as npm publishes them. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, root } from '../prepare.mjs';

/** The packages by name, each with its folder. */
export const packages = {
  'strapi-plugin-apps': join(root, 'plugins', 'apps'),
  'strapi-plugin-apps-python': join(root, 'plugins', 'apps-python'),
  'strapi-plugin-apps-node22': join(root, 'plugins', 'apps-node22'),
};

export const manifestOf = (name) => JSON.parse(readFileSync(join(packages[name], 'package.json'), 'utf8'));

/** npm's JSON after whatever a script of the package has printed before it. */
const jsonIn = (text) => JSON.parse(text.slice(text.search(/^[[{]/m)));

/**
 * Packs a package into a folder, with the plugin built before.
 * @returns `file`, the tarball's path; `size` in bytes, packed; `files`, the paths in it
 */
export function pack(name, folder) {
  if (name === 'strapi-plugin-apps') build('plugin');
  mkdirSync(folder, { recursive: true });
  const args = ['pack', '--json', '--pack-destination', folder];
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd: packages[name], encoding: 'utf8' });
  if (status !== 0) throw new Error(`npm pack of ${name} failed: ${stderr}`);
  const answer = jsonIn(stdout);
  const [{ filename, size, files }] = Array.isArray(answer) ? answer : Object.values(answer);
  return { file: join(folder, filename), size, files: files.map(({ path }) => path) };
}
