import { type Node, parse } from 'acorn';
import { logicError } from './errors';

/** A node of the syntax tree whose keys depend on its type. */
export type AnyNode = Node & { [key: string]: unknown };

/** The statements of a module. LogicError with file, line and column for a syntax error. */
export function parseModule(file: string, code: string): AnyNode[] {
  try {
    const options = { ecmaVersion: 'latest', sourceType: 'module', locations: true } as const;
    return parse(code, options).body as unknown as AnyNode[];
  } catch (error) {
    const { message, loc } = error as Error & { loc?: { line: number; column: number } };
    if (!loc) throw error;
    const text = `SyntaxError: ${message.replace(/ \(\d+:\d+\)$/, '')}`;
    throw logicError(text, { file, line: loc.line, column: loc.column + 1 });
  }
}

/** Visits every node; with a list of its own, for a hostile file may nest deeper than the stack. */
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
