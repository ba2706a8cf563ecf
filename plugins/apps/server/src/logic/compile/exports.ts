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
 * Takes `export` off a module's own declarations, so that each can be offered through a getter, which is live also when
 * modules import each other. Re-exports (`export … from`) stay. Lines are kept.
 */
export function detachExports(body: readonly AnyNode[], code: string): { code: string; exports: LocalExport[] } {
  const found = body.flatMap((node) => {
    if (node.type === 'ExportDefaultDeclaration') return [defaultExport(node)];
    return node.type === 'ExportNamedDeclaration' && !node.source ? [namedExport(node)] : [];
  });
  const edited = found.reduceRight((text, { edit }) => {
    const lines = '\n'.repeat(code.slice(edit.start, edit.end).split('\n').length - 1);
    return text.slice(0, edit.start) + edit.text + lines + text.slice(edit.end);
  }, code);
  return { code: edited, exports: found.flatMap(({ exports }) => exports) };
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
  return (declaration.declarations as { id: AnyNode }[]).flatMap(({ id }) => patternNames(id));
}

/** Where the names of a destructuring pattern are, by the type of its node. */
const patternParts: Record<string, (node: AnyNode) => unknown[]> = {
  ObjectPattern: (node) => node.properties as unknown[],
  ArrayPattern: (node) => node.elements as unknown[],
  Property: (node) => [node.value],
  RestElement: (node) => [node.argument],
  AssignmentPattern: (node) => [node.left],
};

function patternNames(node: AnyNode): string[] {
  if (node.type === 'Identifier') return [nameOf(node)];
  const parts = patternParts[node.type]?.(node) ?? [];
  return parts.filter((part) => part !== null).flatMap((part) => patternNames(part as AnyNode));
}

/** An identifier's name, or the text of `export { a as 'some text' }`. */
function nameOf(node: AnyNode): string {
  return String(node.name ?? node.value);
}
