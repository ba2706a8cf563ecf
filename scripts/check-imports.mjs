/**
 * Checks the architecture's arrows: which part of the server, and which folder inside a part, may import which other, and
 * which part may use which package. A new part or folder needs an entry in `layers`, a locked package a row in `locks`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/**
 * Layers of a folder of server/src ('' is server/src itself), from the top down: folders, and files that lie below folders.
 * Each may import lower rows. Files without a row are above all folders beside them; `index.ts` is imported from outside
 * only; `types.ts` has types only: every file of the folder may import it, and it may name types of each.
 */
export const layers = {
  '': [
    ['http', 'schedules'],
    ['persons'],
    ['events'],
    ['archive'],
    ['apps'],
    ['mail', 'links'],
    ['jobs'],
    ['auth', 'sites', 'logic', 'layouts', 'records', 'runs', 'audit', 'outbound'],
    ['indexes'],
    ['files', 'interchange'],
    ['workers', 'webhooks', 'metrics'],
  ],
  http: [['admin', 'site', 'operate'], ['app'], ['openapi'], ['middleware'], ['response'], ['request']],
  'http/admin': [['records', 'files'], ['acting', 'upload'], ['why'], ['handler']],
  apps: [
    ['pages', 'lint'],
    ['renderings'],
    ['blocks'],
    ['host-calls'],
    ['run', 'definitions'],
    ['elements', 'mail'],
    ['locales'],
    ['patterns', 'yaml', 'live-topics'],
  ],
  events: [['webhooks'], ['job-calls'], ['calls'], ['live']],
  'apps/blocks': [
    ['saving'],
    ['run-block'],
    ['display'],
    ['html'],
    ['group'],
    ['sent'],
    ['block-session', 'references'],
  ],
  'apps/run': [
    ['places'],
    ['receipts', 'calls-out', 'visits'],
    ['diagnostics', 'refusals'],
    ['site-locale', 'observed'],
  ],
  'apps/elements': [['inputs']],
  'apps/locales': [['messages']],
  auth: [['sessions'], ['credentials'], ['rights']],
  sites: [['themes'], ['addresses']],
  logic: [['session', 'check'], ['supervisor'], ['compile', 'host-functions'], ['documents']],
  layouts: [['markdown'], ['liquid', 'markup'], ['limits']],
  records: [
    ['unit', 'bulk', 'reads'],
    ['commits', 'pending'],
    ['table', 'database'],
  ],
  files: [['private'], ['pictures'], ['pixels']],
  indexes: [['query'], ['building'], ['tables'], ['database', 'keys'], ['dialects']],
  'indexes/query': [['statement'], ['text'], ['operators'], ['sql'], ['limits']],
  common: [['spool'], ['time']],
  'content-types': [
    [
      'record',
      'file',
      'rule',
      'change',
      'password-change',
      'mail',
      'mail-rate',
      'mail-refusal',
      'job',
      'link',
      'draft',
      'schedule',
      'form-post',
      'answer',
      'run',
      'version',
      'audit-entry',
      'history',
    ],
  ],
};

/** What every part may import, and imports no part. The package's files are found from where `package-files` is. */
const common = ['common', 'config.types', 'package-files', 'app-templates'];

/** Maximum number of files in a folder of server/src, besides `index.ts` and `types.ts`. */
const MAX_FILES = 16;

/** Folders in which each file is a row of a table, however many there are. */
const tables = ['server/src/apps/elements'];

/** The programs of the plugin: each imports its own files and those of shared/; `cli` also the server's, as its `index` may. */
export const programs = ['cli', 'testing', 'server', 'sandbox', 'browser', 'admin', 'shared'];

/** Packages that only some programs, or parts of the server, may import. */
const locks = [
  { packages: /^knex$/, users: ['records', 'indexes'] },
  { packages: /^isolated-vm/, users: ['sandbox'] },
  {
    packages: /^(liquidjs|parse5|css-select|htmlparser2|domhandler|domutils|markdown-it|sanitize-html)$/,
    users: ['layouts', 'testing'],
  },
  { packages: /^js-yaml$/, users: ['apps'] },
  { packages: /^(undici|ipaddr\.js)$/, users: ['outbound'] },
  {
    packages: /^@strapi\//,
    users: ['cli', 'testing', 'server', 'http', 'events', 'auth', 'sites', 'logic', 'mail', 'runs', 'audit', 'admin'],
  },
];

const SERVER = 'server/src/';

/** Segments of a path inside server/src, without the ending; null outside of it. */
export const segmentsOf = (path) =>
  path.startsWith(SERVER)
    ? path
        .slice(SERVER.length)
        .replace(/\.tsx?$/, '')
        .split('/')
    : null;

/** The error when one part of the server imports from another, or null. */
function wrongBetweenParts([from], [to, ...inside], typeOnly) {
  const rows = layers[''];
  const [above, below] = [from, to].map((part) => rows.findIndex((row) => row.includes(part)));
  if (above < 0 || below < 0) return `'${above < 0 ? from : to}' is no part of the architecture`;
  if (above > below || (above === below && !typeOnly)) {
    return `${from}/ may not import ${to}/: the arrows point from ${rows.map((row) => row.join(', ')).join(' to ')}`;
  }
  if (['index', 'types'].includes(inside.join('/'))) return null;
  return `of ${to}/ only its front file or its types may be imported, not '${inside.join('/')}'`;
}

/** The error of an import between two files of one part, or null. Segments as `segmentsOf` gives them. */
function wrongInPart(from, to, typeOnly) {
  const depth = from.findIndex((segment, at) => segment !== to[at]);
  const folder = from.slice(0, depth).join('/');
  const rows = layers[folder] ?? [];
  const [ends, names] = [[from, to].map((path) => path.length - 1 > depth), [from[depth], to[depth]]];
  if (depth < 0 || !ends.includes(true)) return null;
  const unknown = names.find((name, at) => ends[at] && !rows.some((row) => row.includes(name)));
  if (unknown) return `'${unknown}' is no folder of ${folder}/ in the architecture`;
  const isFile = (at, name) => !ends[at] && names[at] === name;
  if (isFile(1, 'types') || (isFile(0, 'types') && typeOnly)) return null;
  if (isFile(0, 'types')) return `types.ts of ${folder}/ has types only`;
  const [above, below] = names.map((name) => rows.findIndex((row) => row.includes(name)));
  if (above < below) return null;
  return `${names[0]} may not import ${names[1]}: the arrows of ${folder}/ point from ${rows.map((row) => row.join(', ')).join(' to ')}`;
}

/** The error when one file of the server imports another, or null. */
function wrongInServer(from, to, typeOnly) {
  if (from.length === 1) return null;
  if (from[0] === to[0]) return wrongInPart(from, to, typeOnly);
  if (common.includes(to[0])) return null;
  if (common.includes(from[0])) return `${from[0]}/ may not import ${to[0]}: every part imports it`;
  return to.length > 1 ? wrongBetweenParts(from, to, typeOnly) : `a part may not import server/src/${to[0]}`;
}

/** The error when the command line imports a file of the server, or null. */
function wrongIntoServer(to) {
  if (to.length === 0) return 'of server/ only files of server/src may be imported';
  if (to.length === 1 || to[0] === 'common' || ['index', 'types'].includes(to.slice(1).join('/'))) return null;
  return `of ${to[0]}/ only its front file or its types may be imported, not '${to.slice(1).join('/')}'`;
}

/** The error when `path` imports a package, or null. */
function wrongPackage(path, specifier) {
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
  const lock = locks.find(({ packages }) => packages.test(name));
  const segments = segmentsOf(path) ?? [];
  const user = segments.length > 1 ? segments[0] : path.split('/')[0];
  return lock && !lock.users.includes(user) ? `'${name}' may be imported in ${lock.users.join(', ')} only` : null;
}

/** The path that a relative import of `path` names, without an ending; a folder's is its `index`. */
export function targetOf(path, specifier, isFolder) {
  const target = posix.normalize(posix.join(posix.dirname(path), specifier));
  return isFolder(target) ? `${target}/index` : target;
}

/** The error when `path` (in the plugin's folder, with `/`) imports `specifier`, or null. */
export function wrongImport(path, { specifier, typeOnly }, isFolder = () => false) {
  if (!specifier.startsWith('.')) return wrongPackage(path, specifier);
  const target = targetOf(path, specifier, isFolder);
  const [from, to] = [path, target].map((file) => file.split('/')[0]);
  if (!programs.includes(to)) return `'${specifier}' leaves the plugin's source`;
  if (from === 'cli' && to === 'server') return wrongIntoServer(segmentsOf(target) ?? []);
  if (from !== to) return to === 'shared' ? null : `${from}/ may import shared/, not ${to}/`;
  const [inside, other] = [segmentsOf(path), segmentsOf(target)];
  return inside && other ? wrongInServer(inside, other, typeOnly) : null;
}

/** Whether the compiler removes an import or export declaration. */
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
    else if (
      ts.isCallExpression(node) &&
      /^(import|require|require\.resolve|createRequire\([^()]*\))$/.test(node.expression.getText(source))
    )
      add(node, node.arguments[0], false);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Tests and their helpers (folders named `testing`) may import everything. */
const isTest = (path) => /\.test\.tsx?$|\/testing\//.test(path);

/** The plugin's source files without tests, each with its imports; and whether a path is one of the folders. */
export function sourcesOf(plugin) {
  const paths = programs
    .flatMap((program) => readdirSync(join(plugin, program), { recursive: true }).map((path) => join(program, path)))
    .map((path) => path.split(sep).join('/'))
    .filter((path) => /\.tsx?$/.test(path) && !isTest(path) && !path.includes('node_modules/'))
    .sort();
  const folders = new Set(paths.map((path) => posix.dirname(path)));
  // If a file and a folder have the same name, the import means the file.
  const files = new Set(paths);
  const isFolder = (path) => folders.has(path) && !files.has(`${path}.ts`);
  const sources = paths.map((path) => ({ path, imports: importsOf(readFileSync(join(plugin, path), 'utf8'), path) }));
  return { sources, isFolder };
}

/** Messages about folders of server/src that hold too many of these files. */
export function crowdedFolders(paths) {
  const counts = new Map();
  for (const path of paths) {
    if (!path.startsWith(SERVER) || /\/(index|types)\.ts$/.test(path)) continue;
    counts.set(posix.dirname(path), (counts.get(posix.dirname(path)) ?? 0) + 1);
  }
  return [...counts]
    .filter(([folder, count]) => count > MAX_FILES && !tables.includes(folder))
    .map(([folder, count]) => `plugins/apps/${folder}: ${count} files are too many (${MAX_FILES}): use folders`);
}

/** Messages about every forbidden import under the plugin's folder, and about folders with too many files. */
export function checkImports(plugin) {
  const { sources, isFolder } = sourcesOf(plugin);
  const wrong = sources.flatMap(({ path, imports }) =>
    imports.flatMap((imported) => {
      const message = wrongImport(path, imported, isFolder);
      return message ? [`plugins/apps/${path}:${imported.line}: ${message}`] : [];
    }),
  );
  return [...wrong, ...crowdedFolders(sources.map(({ path }) => path))];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = dirname(dirname(fileURLToPath(import.meta.url)));
  const messages = checkImports(join(root, 'plugins', 'apps'));
  for (const message of messages) console.error(message);
  process.exitCode = messages.length > 0 ? 1 : 0;
}
