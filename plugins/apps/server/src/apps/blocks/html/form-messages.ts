import { escapeHtml, roleOf } from '../../elements';
import type { FormError } from '../../run/refusals';
import type { Block } from '../../types';

/** The messages of a form that is shown again: beside their fields, the others above the form. */
export interface FormMessages {
  /** What an element's field shows; from then on it is not shown above the form. */
  beside(name: string): { error: string | null; autofocus: boolean };
  /** HTML of the messages that no field shows, '' for none. */
  above(): string;
}

/**
 * @param placed the elements of the layout in its order: the first wrong one gets the focus
 */
export function formMessages(block: Block, errors: readonly FormError[], placed: readonly string[]): FormMessages {
  const { elements } = block.definition;
  const byElement = new Map<string, string>();
  for (const { path, message } of errors) {
    const name = path.join(':');
    const before = byElement.get(name);
    byElement.set(name, before === undefined ? message : `${before} ${message}`);
  }
  // An entry of a repeated group has the name of the group before its own.
  const elementOf = (name: string) => elements.get(name.split(':', 1)[0] ?? name);
  const wrong = [...byElement.keys()].filter((name) => roleOf(elementOf(name)) === 'input');
  const order = new Map<string, number>();
  for (const name of placed) if (!order.has(name)) order.set(name, order.size);
  const orderOf = (name: string) => order.get(elementOf(name)?.name ?? '') ?? order.size;
  const [first] = wrong.map((name) => ({ name, order: orderOf(name) })).sort((a, b) => a.order - b.order);
  const shown = new Set<string>();
  return {
    beside(name) {
      shown.add(name);
      return { error: byElement.get(name) ?? null, autofocus: name === first?.name };
    },
    above() {
      const left = [...byElement].filter(([name]) => !shown.has(name));
      if (left.length === 0) return '';
      const texts = left.map(([name, message]) => {
        const label = elementOf(name)?.label;
        return `<p>${escapeHtml(label ? `${label}: ${message}` : message)}</p>`;
      });
      const focus = first !== undefined && shown.has(first.name) ? '' : ' autofocus';
      return `<div class="apps-errors" role="alert" tabindex="-1"${focus}>${texts.join('')}</div>`;
    },
  };
}
