import { type Node, type Options, parse } from 'acorn';
import { logicError } from '../../common/errors';

/** A node of the syntax tree whose keys depend on its type. */
export type AnyNode = Node & { [key: string]: unknown };

/** The statements of a module. LogicError with file, line and column for a syntax error. */
export function parseModule(file: string, code: string): AnyNode[] {
  return parsed(file, code, { ecmaVersion: 'latest', sourceType: 'module', locations: true });
}

/**
 * Checks that the script of a module is one statement for the sandbox: a call of a name with two literals and a function,
 * so that no comment and no bracket of the file leaves its module. LogicError otherwise.
 */
export function checkScript(file: string, code: string): void {
  const onComment: Options['onComment'] = (isBlock, _text, start, _end, location) => {
    if (isBlock || code.startsWith('//', start)) return;
    throw logicError('SyntaxError: HTML-like comments are not available', { file, line: location?.line });
  };
  const options = { ecmaVersion: 'latest', sourceType: 'script', locations: true, onComment } as const;
  const [statement, ...others] = parsed(file, code, options);
  const call = (statement as AnyNode & { expression?: AnyNode }).expression;
  const { type: callee } = (call?.callee ?? {}) as Partial<AnyNode>;
  const [, , factory, ...more] = (call?.arguments ?? []) as AnyNode[];
  const isWhole = call?.end === code.length - 1 && factory?.end === code.length - 2;
  if (!isWhole || callee !== 'Identifier' || factory.type !== 'FunctionExpression' || others.length + more.length > 0)
    throw logicError('SyntaxError: the code leaves its module', { file });
}

function parsed(file: string, code: string, options: Options): AnyNode[] {
  try {
    return parse(code, options).body as unknown as AnyNode[];
  } catch (error) {
    const { message, loc } = error as Error & { loc?: { line: number; column: number } };
    if (!loc) throw error;
    const text = `SyntaxError: ${message.replace(/ \(\d+:\d+\)$/, '')}`;
    // The column in a script includes text before the module's code.
    const column = options.sourceType === 'module' ? loc.column + 1 : undefined;
    throw logicError(text, { file, line: loc.line, column });
  }
}

/** Visits every node; not recursive, because a hostile file may nest deeper than the stack. */
export function walk(body: readonly AnyNode[], visit: (node: AnyNode, inFunction: boolean) => void): void {
  const waiting: { value: unknown; inFunction: boolean }[] = [{ value: body, inFunction: false }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { value, inFunction } = next;
    if (typeof value !== 'object' || value === null) continue;
    const type = (value as AnyNode).type;
    if (typeof type === 'string') visit(value as AnyNode, inFunction);
    const inside = inFunction || (typeof type === 'string' && type.includes('Function'));
    for (const [key, child] of Object.entries(value)) {
      if (key !== 'loc') waiting.push({ value: child, inFunction: inside });
    }
  }
}

/** Line and column, both from 1, where a node begins. */
export function startOf(node: Node): { line: number; column: number } {
  const { line, column } = (node.loc as NonNullable<Node['loc']>).start;
  return { line, column: column + 1 };
}
