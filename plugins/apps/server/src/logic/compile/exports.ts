import type { AnyNode } from './syntax';

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
export function detachExports(body: readonly AnyNode[], code: string): { code: string; exports: LocalExport[] } {
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
