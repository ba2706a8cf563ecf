import type { Json } from '../../../../shared/json';
import { computeElement } from '../blocks/saving/record-operations';
import { type ElementRole, roleOf } from '../elements';
import { type Exact, exactly, type Recipe } from '../renderings/exact';
import { filledIn, type Parts, partsOf } from '../renderings/placeholders';
import { permittedBlock } from '../run/permitted-block';
import { redirectOf } from '../run/response';
import { withRun } from '../run/run';
import type { AppServices, Visit } from '../run/types';
import type { App } from '../types';

/** The value of an element that is asked for by its own address. */
export interface ShownElement {
  value: Json;
  role: ElementRole | undefined;
  /** Where an action leads to. */
  leadsTo: string | null;
}

interface KeptElement extends ShownElement {
  /** The value as JSON, where it has something of its visitor. */
  parts: Parts | null;
  size: number;
}

/**
 * An element of a block as a GET has it: a kept value that is the same as a new one, or a new one. Errors as of `computeElement` and
 * `permittedBlock`.
 */
export function shownElement(
  services: AppServices,
  visit: Visit,
  app: App,
  target: { block: string; element: string },
): Promise<Exact<ShownElement>> {
  const recipe: Recipe<ShownElement, KeptElement> = {
    name: `element ${target.block}/${target.element}`,
    app,
    isOn: app.blocks.get(target.block)?.definition.cache !== false,
    make: (by, as, seen) =>
      withRun(by, as, app, async (run) => {
        const block = permittedBlock(run, target.block);
        const { value } = await computeElement(run, block, target.element);
        const role = roleOf(block.definition.elements.get(target.element));
        seen(run);
        return { value, role, leadsTo: role === 'action' ? redirectOf(run, value) : null };
      }),
    async toKept(shown) {
      const text = JSON.stringify(shown.value);
      const parts = partsOf(text);
      return { ...shown, parts: parts.length > 1 ? parts : null, size: text.length };
    },
    fromKept: ({ parts, size: _, ...shown }, to) =>
      parts ? { ...shown, value: JSON.parse(filledIn(parts, to)) as Json } : shown,
    sizeOf: ({ size }) => size,
    refusal: ({ role, leadsTo }) => (role === 'action' || leadsTo !== null ? 'redirect' : null),
  };
  return exactly(services, visit, recipe);
}
