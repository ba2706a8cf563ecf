import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const read = (file) => readFileSync(join(root, file), 'utf8');
const { scripts } = JSON.parse(read('package.json'));

/** Paths of the repository in Markdown: relative links, what stands in backticks and has a slash, arguments of commands. */
function pathsOf(text) {
  const links = [...text.matchAll(/\]\((?!\w+:|#)([^)#]+)/g)].map(([, path]) => path);
  const quoted = [...text.matchAll(/`([\w.@-]+(?:\/[\w.@-]+)+\/?)`/g)].map(([, path]) => path);
  const commands = [...text.matchAll(/(?<=^npm run .* -- )[\w-]+(?:\/[\w.-]+)+/gm)].map(([path]) => path);
  return { links, paths: [...new Set([...quoted, ...commands])] };
}

describe.each(['CONTRIBUTING.md', 'plugins/apps/README.md', '.github/pull_request_template.md'])('%s', (file) => {
  const text = read(file);

  test('every link leads to a file', () => {
    expect(pathsOf(text).links.filter((path) => !existsSync(join(root, dirname(file), path)))).toEqual([]);
  });

  test('every npm script that it names exists', () => {
    // The plugin's README speaks to a site, which has Strapi's own scripts.
    const named = [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, name]) => name);
    expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
  });
});

test('every path that CONTRIBUTING.md names exists', () => {
  const { paths } = pathsOf(read('CONTRIBUTING.md'));
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  expect(paths.length).toBeGreaterThan(40);
});

test('the host and the plugin have the same license', () => {
  expect(read('plugins/apps/LICENSE')).toBe(read('LICENSE'));
});
