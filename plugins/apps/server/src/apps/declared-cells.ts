import { type DeclaredItems, type ItemKind, labelsOf } from '../interchange';
import { declaredItems, listedOptions, roleOf } from './elements';
import type { App, ElementDefinition } from './types';

/** What an app's definitions say about the columns and cells of a table of its records. */
export function declaredCells(app: Pick<App, 'blocks'>): DeclaredItems<ItemKind> {
  const items = declaredItems(app);
  const blocks = [...app.blocks].map(([id, { definition }]) => {
    // What a function computes may be any value.
    const inputs = [...definition.elements.values()].filter((one) => roleOf(one) === 'input' && !one.mode);
    return [id, new Map(inputs.map((one) => [one.name, kindOf(one)]))] as const;
  });
  return { names: items.map(({ name }) => name), labels: labelsOf(items), blocks: new Map(blocks) };
}

function kindOf(element: ElementDefinition): ItemKind {
  const { cell, isList } = element.kind;
  if (cell) return { kind: cell };
  if (!isList?.(element)) return { kind: 'text' };
  return { kind: 'list', options: listedOptions(element)?.map(({ value }) => String(value)) };
}
