/**
 * Holds the architecture's arrows: which part of the plugin may import which other, and who may use which package.
 * A new room gets a row in `layers`, a locked package a row in `locks`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** Rooms of server/src from the top down; a room may import those of lower layers, and types of its own layer. */
const layers = [
  ['door', 'events'],
  ['apps'],
  ['requester', 'sites', 'logic', 'layouts', 'records'],
  ['indexes'],
  ['workers'],
];

/** Files of server/src that every room may import. */
const common = ['errors', 'config.types', 'confined-process', 'did-you-mean', 'batch', 'lines', 'log', 'spool'];

/** The programs of the plugin: each stands alone but for shared/. */
const programs = ['server', 'sandbox', 'browser', 'admin', 'shared'];

/** Packages that only some places may import; a place is a program or a room of the server. */
const locks = [
  { packages: /^knex$/, places: ['records', 'indexes'] },
  { packages: /^isolated-vm/, places: ['sandbox'] },
  { packages: /^(liquidjs|parse5|css-select|htmlparser2|domhandler|domutils)$/, places: ['layouts'] },
  { packages: /^js-yaml$/, places: ['apps'] },
  {
    packages: /^@strapi\//,
    places: ['server', 'door', 'events', 'requester', 'sites', 'logic', 'admin'],
  },
];

/** Where a file of the plugin belongs: its program, and in the server its room ('' for the files beside the rooms). */
function placeOf(path) {
  const [program, src, room, ...rest] = path.split('/');
  if (program !== 'server' || src !== 'src') return { program, room: '', inside: '' };
  return rest.length === 0 ? { program, room: '', inside: room } : { program, room, inside: rest.join('/') };
}

/** The two ends of one wire, logic/ and the sandbox, share the types of what goes over it. */
const isWire = (from, to) =>
  (from.room === 'logic' && to.program === 'sandbox') ||
  (from.program === 'sandbox' && to.room === 'logic' && to.inside === 'types');

const layerOf = (room) => layers.findIndex((rooms) => rooms.includes(room));

/** What is wrong with one room of the server importing a file of another, or null. */
function wrongInServer(from, to, typeOnly) {
  if (from.room === '' || from.room === to.room) return null;
  if (to.room === '') {
    return common.includes(to.inside) ? null : `a room may not import server/src/${to.inside}`;
  }
  const [above, below] = [layerOf(from.room), layerOf(to.room)];
  if (above < 0 || below < 0) return `'${above < 0 ? from.room : to.room}' is no room of the architecture`;
  if (above > below || (above === below && !typeOnly)) {
    return `${from.room}/ may not import ${to.room}/: the arrows point from ${layers.map((rooms) => rooms.join(', ')).join(' to ')}`;
  }
  if (['', 'index', 'types'].includes(to.inside)) return null;
  return `of ${to.room}/ only its front file or its types may be imported, not '${to.inside}'`;
}

/** What is wrong with `path` (in the plugin's folder, with `/`) importing `specifier`, or null. */
export function wrongImport(path, { specifier, typeOnly }, isFolder = () => false) {
  const from = placeOf(path);
  if (!specifier.startsWith('.')) {
    const name = specifier
      .split('/')
      .slice(0, specifier.startsWith('@') ? 2 : 1)
      .join('/');
    const lock = locks.find(({ packages }) => packages.test(name));
    const place = from.room || from.program;
    return lock && !lock.places.includes(place) ? `'${name}' may be imported in ${lock.places.join(', ')} only` : null;
  }
  const target = posix.normalize(posix.join(posix.dirname(path), specifier));
  const to = placeOf(isFolder(target) ? `${target}/index` : target);
  if (!programs.includes(to.program)) return `'${specifier}' leaves the plugin's source`;
  if (from.program !== to.program) {
    if (to.program === 'shared' || (typeOnly && isWire(from, to))) return null;
    return `${from.program}/ may import shared/, not ${to.program}/`;
  }
  return from.program === 'server' ? wrongInServer(from, to, typeOnly) : null;
}

/** Whether an import or export declaration vanishes when compiled. */
function isTypeOnly(node) {
  const clause = node.importClause ?? node;
  if (clause.isTypeOnly) return true;
  const named = clause.namedBindings ?? clause.exportClause;
  return Boolean(!clause.name && named?.elements?.length && named.elements.every((element) => element.isTypeOnly));
}

/** All imports, re-exports, dynamic imports and requires of a TypeScript source, with their lines. */
export function importsOf(text, name = 'file.tsx') {
  const source = ts.createSourceFile(name, text, ts.ScriptTarget.Latest);
  const found = [];
  const add = (node, literal, typeOnly) => {
    if (!literal || !ts.isStringLiteralLike(literal)) return;
    const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
    found.push({ specifier: literal.text, typeOnly, line });
  };
  const visit = (node) => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) add(node, node.moduleSpecifier, isTypeOnly(node));
    else if (ts.isImportTypeNode(node)) add(node, node.argument.literal, true);
    else if (ts.isCallExpression(node) && /^(import|require|require\.resolve)$/.test(node.expression.getText(source)))
      add(node, node.arguments[0], false);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Tests and what only they use (folders named `testing`) may import what they like. */
const isTest = (path) => /\.test\.tsx?$|\/testing\//.test(path);

/** Messages about every forbidden import under the plugin's folder. */
export function checkImports(plugin) {
  const paths = programs
    .flatMap((program) => readdirSync(join(plugin, program), { recursive: true }).map((path) => join(program, path)))
    .map((path) => path.split(sep).join('/'));
  const folders = new Set(paths.map((path) => posix.dirname(path)));
  const messages = [];
  for (const path of paths) {
    if (!/\.tsx?$/.test(path) || isTest(path) || path.includes('node_modules/')) continue;
    for (const imported of importsOf(readFileSync(join(plugin, path), 'utf8'), path)) {
      const wrong = wrongImport(path, imported, (target) => folders.has(target));
      if (wrong) messages.push(`plugins/apps/${path}:${imported.line}: ${wrong}`);
    }
  }
  return messages;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = dirname(dirname(fileURLToPath(import.meta.url)));
  const messages = checkImports(join(root, 'plugins', 'apps'));
  for (const message of messages) console.error(message);
  process.exitCode = messages.length > 0 ? 1 : 0;
}
