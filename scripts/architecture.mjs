/**
 * Draws the imports of the plugin's source as text: `node scripts/architecture.mjs` writes the picture into
 * docs/architecture.md, and scripts/architecture.test.mjs fails when the page has another one.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { layers, programs, segmentsOf, sourcesOf, targetOf } from './check-imports.mjs';

/** Column at which a row's arrows begin. */
const COLUMN = 24;

/** The names in a folder of server/src, in the order of the table. */
const namesOf = (folder) => layers[folder]?.flat() ?? [];

/** The innermost common folder of two files, and the two different names of its table on their paths; null if the table lacks one. */
function arrowOf(from, to) {
  const depth = from.findIndex((segment, at) => segment !== to[at]);
  const folder = from.slice(0, Math.max(depth, 0)).join('/');
  const known = [from[depth], to[depth]].every((name) => namesOf(folder).includes(name));
  return known ? { folder, from: from[depth], to: to[depth] } : null;
}

/** All arrows: for `<folder>:<name>` the names that it imports, and whether it imports only types. */
function arrowsOf({ sources, isFolder }) {
  const arrows = new Map();
  const add = (key, to, typeOnly) => {
    const found = arrows.get(key) ?? new Map();
    arrows.set(key, found.set(to, typeOnly && (found.get(to) ?? true)));
  };
  for (const { path, imports } of sources) {
    for (const { specifier, typeOnly } of imports) {
      if (!specifier.startsWith('.')) continue;
      const target = targetOf(path, specifier, isFolder);
      const [program, other] = [path, target].map((file) => file.split('/')[0]);
      if (program !== other) add(`program:${program}`, other, typeOnly);
      const [from, to] = [segmentsOf(path), segmentsOf(target)];
      const arrow = from && to && arrowOf(from, to);
      if (arrow) add(`${arrow.folder}:${arrow.from}`, arrow.to, typeOnly);
    }
  }
  return arrows;
}

/** Rows of the picture: each name with what it imports; in parentheses where it imports only types. */
export function importPicture(plugin) {
  const arrows = arrowsOf(sourcesOf(plugin));
  const row = (indent, name, found = new Map(), order = []) => {
    const list = order
      .filter((to) => found.has(to))
      .map((to) => (found.get(to) ? `(${to})` : to))
      .join(', ');
    return `${`${'  '.repeat(indent)}${name}`.padEnd(COLUMN)}${list && `-> ${list}`}`.trimEnd();
  };
  const rows = (folder, indent) =>
    namesOf(folder).flatMap((name) => [
      row(indent, name, arrows.get(`${folder}:${name}`), namesOf(folder)),
      ...rows(folder === '' ? name : `${folder}/${name}`, indent + 1),
    ]);
  const lines = programs.flatMap((program) => [
    row(0, program, arrows.get(`program:${program}`), programs),
    ...(program === 'server' ? rows('', 1) : []),
  ]);
  return lines.join('\n');
}

const marks = { start: '<!-- imports, written by scripts/architecture.mjs -->\n```\n', end: '\n```\n<!-- end -->' };

/** The page with this picture between its marks. */
export function withPicture(page, picture) {
  const [start, end] = [page.indexOf(marks.start) + marks.start.length, page.indexOf(marks.end)];
  if (start < marks.start.length || end < 0) throw new Error('docs/architecture.md has no marks for the picture');
  return page.slice(0, start) + picture + page.slice(end);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = dirname(dirname(fileURLToPath(import.meta.url)));
  const path = join(root, 'docs', 'architecture.md');
  writeFileSync(path, withPicture(readFileSync(path, 'utf8'), importPicture(join(root, 'plugins', 'apps'))));
}
