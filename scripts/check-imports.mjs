/**
 * Checks the architecture's arrows: which part of the server, and which folder inside a part, may import which other, and
 * which part may use which package. Also that an exported type has a name of its own, and that the files of a folder do not
 * import each other. A new part or folder needs an entry in `layers`, a package of the server a row in `packages`.
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
    ['processes'],
    ['indexes'],
    ['database'],
    ['files', 'interchange'],
    ['workers', 'webhooks', 'metrics'],
  ],
  http: [['admin', 'site', 'operate'], ['app'], ['openapi'], ['middleware'], ['response'], ['request']],
  apps: [
    ['pages', 'lint'],
    ['blocks'],
    ['host-calls'],
    ['run', 'definitions'],
    ['elements', 'mail'],
    ['locales'],
    ['patterns', 'yaml-schema', 'yaml', 'live-topics'],
  ],
  events: [['webhooks'], ['calls'], ['live']],
  'apps/blocks': [['saving'], ['run-block'], ['display'], ['group'], ['sent'], ['block-session']],
  'apps/run': [['places'], ['calls-out'], ['diagnostics', 'refusals'], ['visits', 'observed']],
  'apps/elements': [
    ['repeat', 'repeat-html'],
    ['read'],
    ['reference', 'file-fields'],
    ['reference-targets', 'file'],
    ['choice-types', 'entries'],
    ['parts'],
    ['inputs'],
  ],
  'apps/locales': [['messages']],
  auth: [['sessions'], ['credentials'], ['rights']],
  sites: [['themes'], ['addresses']],
  logic: [['session', 'check'], ['supervisor'], ['compile', 'host-functions'], ['documents']],
  layouts: [['markdown'], ['liquid', 'markup'], ['limits']],
  records: [['unit', 'bulk'], ['commits', 'pending'], ['table']],
  indexes: [['planner'], ['query'], ['building'], ['rows'], ['tables'], ['keys']],
  'indexes/query': [['operators'], ['words'], ['sql'], ['limits']],
  common: [['spool'], ['time'], ['request-objects']],
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
      'kept-file',
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

/**
 * Who may import a package: programs, or paths in server/src. `server` means the files of server/src itself.
 * Parsers of foreign text: docs/decisions/foreign-text.md has a row for each, with what bounds its cost.
 */
export const parsers = {
  '@e965/xlsx': ['interchange/sheet-task'],
  '@fastify/busboy': ['http/request/read-body'],
  acorn: ['logic/compile/syntax'],
  'altcha-lib': ['auth/sessions/proofs'],
  croner: ['common/time/cron'],
  cronstrue: ['common/time/cron'],
  'css-select': ['layouts/markup', 'testing'],
  'csv-parse': ['interchange/text'],
  'intl-messageformat': ['apps/locales'],
  'ipaddr.js': ['outbound/calls'],
  'js-yaml': ['apps/yaml'],
  liquidjs: ['layouts'],
  'markdown-it': ['layouts/markdown'],
  parse5: ['layouts/markup', 'testing'],
  'sanitize-html': ['layouts/markdown'],
  sucrase: ['logic/compile/javascript', 'cli', 'testing'],
  undici: ['outbound/calls'],
  yauzl: ['archive', 'interchange/sheet-task'],
};

const strapi = ['cli', 'testing', 'server', 'http', 'events', 'auth', 'sites', 'logic', 'mail', 'runs', 'audit'];

/** The same for all packages; a package of server/src must have a row. */
const packages = {
  ...parsers,
  '@opentelemetry/api': ['metrics'],
  '@strapi/*': [...strapi, 'processes', 'admin'],
  cookie: ['auth/sessions/cookies'],
  hucre: ['interchange/xlsx'],
  'isolated-vm': ['sandbox'],
  'isolated-vm-7': ['sandbox'],
  knex: ['database'],
  'lru-cache': null,
  'prom-client': ['metrics'],
  'rate-limiter-flexible': ['auth/credentials/rate-limit'],
  redis: ['processes/redis'],
  typescript: ['server', 'cli', 'testing', 'shared'],
  yazl: ['archive', 'persons'],
  zod: null,
};

const SERVER = 'server/src/';

/** Names of types that still stand for two things: give one of them another name, and none to a third. */
const homonyms = new Set([
  ...['AppKey', 'ChangedRecord', 'Condition', 'Entries', 'ListedFile', 'Problem', 'Readiness', 'Reason', 'Run'],
  ...['Settings', 'ShownFile', 'State', 'Statement', 'Target', 'Transaction'],
]);

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
function wrongPackage(path, { specifier, typeOnly }) {
  const [scope, ...rest] = specifier.split('/');
  const name = scope.startsWith('@') ? `${scope}/${rest[0]}` : scope;
  const segments = segmentsOf(path);
  const row = [name, `${scope}/*`].find((one) => Object.hasOwn(packages, one));
  if (row === undefined) {
    const isKnown = !segments || typeOnly || name.startsWith('node:');
    return isKnown ? null : `'${name}' has no row in \`packages\` of scripts/check-imports.mjs: say who may import it`;
  }
  const users = packages[row];
  const user = segments ? [...(segments.length === 1 ? ['server'] : []), ...segments].join('/') : path;
  const isUser = users === null || users.some((one) => user === one || user.startsWith(`${one}/`));
  return isUser ? null : `'${name}' may be imported in ${users.join(', ')} only`;
}

/** The path that a relative import of `path` names, without an ending; a folder's is its `index`. */
export function targetOf(path, specifier, isFolder) {
  const target = posix.normalize(posix.join(posix.dirname(path), specifier));
  return isFolder(target) ? `${target}/index` : target;
}

/** The error when `path` (in the plugin's folder, with `/`) imports `specifier`, or null. */
export function wrongImport(path, imported, isFolder = () => false) {
  const { specifier, typeOnly } = imported;
  if (!specifier.startsWith('.')) return wrongPackage(path, imported);
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

/** Names of the types that a source exports. */
function exportedTypes(text, name) {
  const isExported = (node) => node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
  const isType = (node) =>
    ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isClassDeclaration(node);
  const { statements } = ts.createSourceFile(name, text, ts.ScriptTarget.Latest);
  return statements.filter((node) => isType(node) && isExported(node)).map((node) => node.name?.text ?? '');
}

/** Messages about names that types of several files of server/src export. @param types names by file */
export function homonymsIn(types) {
  const owners = new Map();
  for (const [path, names] of types) for (const name of names) owners.set(name, [...(owners.get(name) ?? []), path]);
  return [...owners]
    .filter(([name, paths]) => paths.length > 1 && !homonyms.has(name))
    .map(([name, paths]) => `the type '${name}' is exported by ${paths.join(' and ')}: give one of them another name`);
}

/** Messages about files of one folder that import each other, directly or by others, and not for types only. */
export function circlesIn(sources, isFolder = () => false) {
  const withoutEnding = (path) => path.replace(/\.tsx?$/, '');
  const next = new Map(
    sources.map(({ path, imports }) => [
      withoutEnding(path),
      imports
        .filter(({ specifier, typeOnly }) => specifier.startsWith('.') && !typeOnly)
        .map(({ specifier }) => targetOf(path, specifier, isFolder))
        .filter((target) => posix.dirname(target) === posix.dirname(path)),
    ]),
  );
  const reachedFrom = (start) => {
    const reached = new Set();
    const waiting = [...(next.get(start) ?? [])];
    for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
      if (!reached.has(file)) waiting.push(...(next.get(file) ?? []));
      reached.add(file);
    }
    return reached;
  };
  const reached = new Map([...next.keys()].map((file) => [file, reachedFrom(file)]));
  const found = new Set();
  for (const [file, others] of reached)
    if (others.has(file))
      found.add(
        [...others]
          .filter((one) => reached.get(one)?.has(file))
          .sort()
          .join(', '),
      );
  return [...found].map((circle) => `these files import each other: ${circle}`);
}

/** Messages about every forbidden import under the plugin's folder, about crowded folders, homonyms and circles. */
export function checkImports(plugin) {
  const { sources, isFolder } = sourcesOf(plugin);
  const wrong = sources.flatMap(({ path, imports }) =>
    imports.flatMap((imported) => {
      const message = wrongImport(path, imported, isFolder);
      return message ? [`plugins/apps/${path}:${imported.line}: ${message}`] : [];
    }),
  );
  const types = sources
    .filter(({ path }) => path.startsWith(SERVER))
    .map(({ path }) => [path, exportedTypes(readFileSync(join(plugin, path), 'utf8'), path)]);
  const paths = sources.map(({ path }) => path);
  return [...wrong, ...crowdedFolders(paths), ...homonymsIn(types), ...circlesIn(sources, isFolder)];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = dirname(dirname(fileURLToPath(import.meta.url)));
  const messages = checkImports(join(root, 'plugins', 'apps'));
  for (const message of messages) console.error(message);
  process.exitCode = messages.length > 0 ? 1 : 0;
}
