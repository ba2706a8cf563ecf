import { logicError } from '../../common/errors';
import { changesBuiltIns } from './built-ins';
import { detachExports, type LocalExport } from './exports';
import { type AnyNode, parseModule, startOf, walk } from './syntax';

/** A relative import as written, with its position. */
export interface ImportSite {
  specifier: string;
  line: number;
  column: number;
}

/** Result of the static analysis of a module. */
export interface ModuleShape {
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
