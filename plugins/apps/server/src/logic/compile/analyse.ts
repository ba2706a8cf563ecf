import { logicError } from '../../common/errors';
import { changesBuiltIns } from './built-ins';
import { type AnyNode, parseModule, startOf, walk } from './syntax';

/** A local name and the name it is exported under. */
export interface LocalExport {
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
export interface ImportSite {
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
export function analyse(file: string, code: string): ModuleShape {
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
