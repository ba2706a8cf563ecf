import { type AnyNode, walk } from '../compile/syntax';
import type { LogicType } from './members';

/** Names of a function or module with the types of their values; null where a type is not known. */
export class Scope {
  readonly #types = new Map<string, LogicType | null>();

  constructor(private readonly outer: Scope | null) {}

  declare(name: string, type: LogicType | null = null): void {
    this.#types.set(name, type);
  }

  typeOf(name: string): LogicType | null {
    if (this.#types.has(name)) return this.#types.get(name) ?? null;
    return this.outer?.typeOf(name) ?? null;
  }

  /** Whether a name is the module's own, which no function has declared again. */
  isOfModule(name: string): boolean {
    if (!this.outer) return true;
    return !this.#types.has(name) && this.outer.isOfModule(name);
  }
}

export const nodesIn = (value: unknown): AnyNode[] =>
  (Array.isArray(value) ? value : [value]).filter(
    (one): one is AnyNode => typeof (one as AnyNode | null)?.type === 'string',
  );

/** The nodes directly below a node. */
export const childrenOf = (node: AnyNode): AnyNode[] => Object.values(node).flatMap(nodesIn);

export const isFunction = ({ type }: AnyNode): boolean => /^(?:Arrow)?Function(?:Expression|Declaration)$/.test(type);

export const nameOf = (node: unknown): string => String((node as { name?: unknown } | null)?.name ?? '');

/** The names that a pattern declares. */
export function namesOf(pattern: AnyNode | null): string[] {
  if (!pattern) return [];
  switch (pattern.type) {
    case 'Identifier':
      return [nameOf(pattern)];
    case 'Property':
      return namesOf(pattern.value as AnyNode);
    case 'AssignmentPattern':
      return namesOf(pattern.left as AnyNode);
    case 'RestElement':
      return namesOf(pattern.argument as AnyNode);
    default:
      return nodesIn(pattern.properties ?? pattern.elements ?? []).flatMap(namesOf);
  }
}

/** Names that a function or module declares, those in its blocks included, and without those of functions inside it. */
export function declaredIn(body: AnyNode): string[] {
  const found: string[] = [];
  const waiting = childrenOf(body);
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (node.type === 'VariableDeclarator') found.push(...namesOf(node.id as AnyNode));
    if (node.type === 'CatchClause') found.push(...namesOf(node.param as AnyNode | null));
    if (/^(?:Function|Class)Declaration$/.test(node.type)) found.push(nameOf(node.id));
    if (!isFunction(node)) waiting.push(...childrenOf(node));
  }
  return found;
}

/** Names whose values change, of variables of any function: their types are never known. */
export function changedNames(program: readonly AnyNode[]): Set<string> {
  const changed = new Set<string>();
  walk(program, (node) => {
    const target =
      node.type === 'AssignmentExpression' || /^For(?:In|Of)Statement$/.test(node.type)
        ? node.left
        : node.type === 'UpdateExpression'
          ? node.argument
          : null;
    for (const name of namesOf(target as AnyNode | null)) changed.add(name);
  });
  return changed;
}
