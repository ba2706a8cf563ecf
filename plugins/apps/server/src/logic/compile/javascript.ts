import { posix } from 'node:path';
import { transform } from 'sucrase';
import { AppsError, logicError } from '../../common/errors';
import { type AnyNode, checkScript, parseModule, startOf, walk } from './syntax';
import type { SourceFile } from './task';

/**
 * Code that changes built-ins or globals, or uses the last match of regular expressions, as far as its syntax tree shows: each session of it
 * gets a context of its own (docs/decisions/reused-contexts.md). What is not seen here fails in a reused context, and runs again.
 */

/** The globals of the language, and those of the sandbox. */
const globals = new Set(
  (
    'globalThis Object Function Array String Number Boolean Symbol BigInt Math JSON Date RegExp Promise Proxy Reflect Intl Temporal ' +
    'Map Set WeakMap WeakSet Iterator Error EvalError RangeError ReferenceError SyntaxError TypeError URIError AggregateError ' +
    'SuppressedError ArrayBuffer DataView Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array ' +
    'Float16Array Float32Array Float64Array BigInt64Array BigUint64Array DisposableStack AsyncDisposableStack ' +
    'console URL URLSearchParams TextEncoder TextDecoder crypto structuredClone atob btoa'
  ).split(' '),
);

/** Properties of `RegExp` that are no state. */
const regExpMembers = new Set(['prototype', 'escape', 'name', 'length']);

/** Functions of `Object` and `Reflect` that change their first argument. */
const changing = new Set([
  'assign',
  'defineProperty',
  'defineProperties',
  'deleteProperty',
  'set',
  'setPrototypeOf',
  'freeze',
  'seal',
]);

const isIdentifier = (node: AnyNode, is: (name: string) => boolean): boolean =>
  node.type === 'Identifier' && is(node.name as string);

/** Whether an expression is a global, or a member of one at any depth: `Array.prototype` for instance. */
function isOfGlobal(node: AnyNode): boolean {
  let inner = node;
  while (inner.type === 'MemberExpression' || inner.type === 'ChainExpression')
    inner = (inner.object ?? inner.expression) as AnyNode;
  return isIdentifier(inner, (name) => globals.has(name));
}

const isMemberOfGlobal = (node: unknown): boolean =>
  (node as AnyNode).type === 'MemberExpression' && isOfGlobal(node as AnyNode);

function isChangingCall({ callee, arguments: args }: AnyNode): boolean {
  const { type, object, property } = callee as AnyNode;
  const [first] = args as AnyNode[];
  if (type !== 'MemberExpression' || !first || !isOfGlobal(first)) return false;
  return (
    isIdentifier(object as AnyNode, (name) => name === 'Object' || name === 'Reflect') &&
    isIdentifier(property as AnyNode, (name) => changing.has(name))
  );
}

const checks: Record<string, (node: AnyNode) => boolean> = {
  AssignmentExpression: ({ left }) => isMemberOfGlobal(left),
  UpdateExpression: ({ argument }) => isMemberOfGlobal(argument),
  UnaryExpression: ({ operator, argument }) => operator === 'delete' && isMemberOfGlobal(argument),
  CallExpression: isChangingCall,
  MemberExpression: ({ object, property, computed }) =>
    isIdentifier(object as AnyNode, (name) => name === 'RegExp') &&
    (computed === true || !regExpMembers.has((property as AnyNode).name as string)),
};

/** Whether this node of a syntax tree changes a built-in. */
const changesBuiltIns = (node: AnyNode): boolean =>
  Object.hasOwn(checks, node.type) && (checks[node.type] as (node: AnyNode) => boolean)(node);

/** A local name and the name it is exported under. */
interface LocalExport {
  exported: string;
  local: string;
}

interface Edit {
  start: number;
  end: number;
  text: string;
}

const defaultName = '__default';

/**
 * Removes `export` from a module's own declarations, so that a getter can export each one; its value is live even in
 * circular imports. Keeps re-exports (`export … from`) and line numbers.
 */
function detachExports(body: readonly AnyNode[], code: string): { code: string; exports: LocalExport[] } {
  const found = body.flatMap((node) => {
    if (node.type === 'ExportDefaultDeclaration') return [defaultExport(node)];
    return node.type === 'ExportNamedDeclaration' && !node.source ? [namedExport(node)] : [];
  });
  return { code: edited(code, found), exports: found.flatMap(({ exports }) => exports) };
}

/** Applies edits, which are in the order of the text. */
function edited(code: string, found: readonly { edit: Edit }[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const { edit } of found) {
    const lines = code.slice(edit.start, edit.end).replace(/[^\n]/g, '');
    parts.push(code.slice(at, edit.start), edit.text, lines);
    at = edit.end;
  }
  return parts.join('') + code.slice(at);
}

function defaultExport(node: AnyNode): { edit: Edit; exports: LocalExport[] } {
  const declaration = node.declaration as AnyNode;
  const id = declaration.id as (AnyNode & { name: string }) | null | undefined;
  const named = declaration.type.endsWith('Declaration') && id;
  const text = named ? '' : `const ${defaultName}=`;
  const edit = { start: node.start, end: declaration.start, text };
  return { edit, exports: [{ exported: 'default', local: named ? named.name : defaultName }] };
}

function namedExport(node: AnyNode): { edit: Edit; exports: LocalExport[] } {
  const declaration = node.declaration as AnyNode | null;
  if (declaration) {
    const exports = declaredNames(declaration).map((name) => ({ exported: name, local: name }));
    return { edit: { start: node.start, end: declaration.start, text: '' }, exports };
  }
  const specifiers = node.specifiers as { local: AnyNode; exported: AnyNode }[];
  const exports = specifiers.map(({ local, exported }) => ({ local: nameOf(local), exported: nameOf(exported) }));
  return { edit: { start: node.start, end: node.end, text: ';' }, exports };
}

function declaredNames(declaration: AnyNode): string[] {
  if (declaration.type !== 'VariableDeclaration') return [nameOf(declaration.id as AnyNode)];
  return (declaration.declarations as { id: AnyNode }[]).flatMap(({ id }) => [...patternNames(id)]);
}

/** The parts of a destructuring pattern that contain names, by the type of its node. */
const patternParts: Record<string, (node: AnyNode) => unknown[]> = {
  ObjectPattern: (node) => node.properties as unknown[],
  ArrayPattern: (node) => node.elements as unknown[],
  Property: (node) => [node.value],
  RestElement: (node) => [node.argument],
  AssignmentPattern: (node) => [node.left],
};

/** Not recursive: a hostile pattern may nest deeper than the stack. */
function* patternNames(pattern: AnyNode): Generator<string> {
  const waiting = [pattern];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (node.type === 'Identifier') yield nameOf(node);
    const parts = patternParts[node.type]?.(node) ?? [];
    waiting.push(...(parts.filter((part) => part !== null).reverse() as AnyNode[]));
  }
}

/** An identifier's name, or the text of `export { a as 'some text' }`. */
function nameOf(node: AnyNode): string {
  return String(node.name ?? node.value);
}

/** A relative import as written, with its position. */
interface ImportSite {
  specifier: string;
  line: number;
  column: number;
}

/** Result of the static analysis of a module. */
interface ModuleShape {
  /** The text without `export` before the module's own declarations. */
  code: string;
  imports: ImportSite[];
  hasExports: boolean;
  /** The module's own exports; re-exports are still in the code. */
  exports: LocalExport[];
  /** Names of top-level function declarations and of variables that hold a function. */
  functions: string[];
  changesBuiltIns: boolean;
}

interface NodeContext {
  inFunction: boolean;
  /** The whole text. */
  code: string;
}

type Refusal = (node: AnyNode, context: NodeContext) => string | null | false;

const topLevelAwait = 'await is not available outside of functions';

/** Constructs that a logic file may not contain, by the type of their node in the syntax tree. */
const refusals: Record<string, Refusal> = {
  AwaitExpression: (_node, { inFunction }) => !inFunction && topLevelAwait,
  ForOfStatement: (node, { inFunction }) => node.await === true && !inFunction && topLevelAwait,
  ImportExpression: () => 'import() is not available: use a static import',
  MetaProperty: (node) => isNamed(node.meta, 'import') && 'import.meta is not available',
  // In a script, into which the module is compiled, a comment begins here.
  UnaryExpression: (node, { code }) => code.startsWith('<!--', node.start - 1) && 'SyntaxError: <!-- is not available',
  CallExpression: (node) => isNamed(node.callee, 'require') && 'require is not available: use import',
};

/** Parses a module. LogicError with file, line and column for a syntax error or a refused construct. */
function analyse(file: string, code: string): ModuleShape {
  const body = parseModule(file, code);
  let changes = false;
  walk(body, (node, inFunction) => {
    changes ||= changesBuiltIns(node);
    const refusal = Object.hasOwn(refusals, node.type) ? refusals[node.type] : undefined;
    const message = refusal?.(node, { inFunction, code });
    if (message) throw logicError(message, { file, ...startOf(node) });
  });
  return {
    ...detachExports(body, code),
    imports: body.flatMap(importSite),
    hasExports: body.some((node) => node.type.startsWith('Export')),
    functions: body.flatMap(functionNames),
    changesBuiltIns: changes,
  };
}

function importSite(node: AnyNode): ImportSite[] {
  const source = node.source as (AnyNode & { value: string }) | null | undefined;
  return source ? [{ specifier: source.value, ...startOf(source) }] : [];
}

function functionNames(node: AnyNode): string[] {
  if (node.type === 'FunctionDeclaration') return [(node.id as AnyNode & { name: string }).name];
  if (node.type !== 'VariableDeclaration') return [];
  const declarations = node.declarations as { id: { type: string; name: string }; init: AnyNode | null }[];
  return declarations
    .filter(({ id, init }) => id.type === 'Identifier' && /^(Arrow)?FunctionExpression$/.test(init?.type ?? ''))
    .map(({ id }) => id.name);
}

function isNamed(node: unknown, name: string): boolean {
  const { type, name: found } = node as { type: string; name?: string };
  return type === 'Identifier' && found === name;
}

/** Endings that are tried in this order after the path itself. */
const endings = ['.js', '.ts', '.json', '/index.js', '/index.ts'];

/**
 * The path, one of `paths`, that `site` in the file `from` imports; all are relative to the app's folder. LogicError if it
 * is not a relative path, leaves the folder, or does not exist.
 */
function resolveImport(paths: ReadonlySet<string>, from: string, site: ImportSite): string {
  const { specifier, line, column } = site;
  const position = { file: from, line, column };
  if (!/^\.\.?\//.test(specifier)) {
    throw logicError(`Cannot import '${specifier}': only relative imports inside the app's folder`, position);
  }
  const path = posix.normalize(posix.join(posix.dirname(from), specifier));
  const found = candidates(path).find((candidate) => paths.has(candidate) && !candidate.endsWith('.py'));
  if (!found) throw logicError(`Cannot import '${specifier}': there is no such file in the app's folder`, position);
  return found;
}

/** TypeScript imports `x.ts` as `x.js`. */
function candidates(path: string): string[] {
  return [path, ...endings.map((ending) => path + ending), path.replace(/\.js$/, '.ts')];
}

/**
 * Compiles a file to a script that defines a module in the sandbox (`prelude/modules.ts`). Keeps line numbers, so that
 * errors have the file's own. LogicError with file, line and column.
 */
export function compileJavaScript(file: SourceFile): { code: string; imports: string[]; changesBuiltIns?: boolean } {
  const { path, text, isEntry, paths } = file;
  if (path.endsWith('.json')) return { code: jsonModule(path, text), imports: [] };
  const code = withoutTypes(path, text);
  return guarded(path, () => {
    const shape = analyse(path, code);
    const imports = Object.fromEntries(shape.imports.map((site) => [site.specifier, resolveImport(paths, path, site)]));
    const own = shape.functions.map((name) => ({ exported: name, local: name }));
    const offered = shape.hasExports || !isEntry ? shape.exports : own;
    const linked = rewrite(path, getters(offered) + shape.code, ['imports']);
    const script = wrap(path, imports, linked);
    checkScript(path, script);
    return { code: script, imports: Object.values(imports), changesBuiltIns: shape.changesBuiltIns };
  });
}

/** The text of a file without TypeScript's types, in the same lines. LogicError where they cannot be read. */
export const withoutTypes = (path: string, text: string): string =>
  path.endsWith('.ts') ? rewrite(path, text, ['typescript']) : text;

/** They precede the code, so that they exist in circular imports. */
function getters(exports: readonly LocalExport[]): string {
  return exports.map(({ exported, local }) => `__offer(${literal(exported)},()=>${local});`).join('');
}

/** Begins on the first line of the code, so that line numbers are the file's own. */
function wrap(path: string, imports: Record<string, string>, code: string): string {
  return `__define(${literal(path)},${literal(imports)},function(exports,require,__offer){"use strict";${code}\n});`;
}

function jsonModule(path: string, text: string): string {
  try {
    JSON.parse(text);
  } catch (error) {
    throw logicError(`SyntaxError: ${(error as Error).message}`, { file: path });
  }
  return wrap(path, {}, `exports.default=JSON.parse(${literal(text)});`);
}

function rewrite(file: string, code: string, transforms: ('typescript' | 'imports')[]): string {
  return guarded(file, () => {
    const options = { transforms, filePath: file, disableESTransforms: true, preserveDynamicImport: true };
    return transform(code, { ...options, keepUnusedImports: transforms[0] === 'imports' }).code;
  });
}

/** Converts every error of a parser, stack overflow included, to a LogicError of the file. */
function guarded<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof AppsError) throw error;
    if (error instanceof RangeError) throw logicError('SyntaxError: nested too deeply', { file });
    const { message, loc } = error as Error & { loc?: { line: number; column: number } };
    const text = message.replace(/^Error transforming [^:]*: /, '').replace(/ \(\d+:\d+\)$/, '');
    throw logicError(text.startsWith('SyntaxError') ? text : `SyntaxError: ${text}`, { file, ...loc });
  }
}

function literal(value: unknown): string {
  return JSON.stringify(value);
}
