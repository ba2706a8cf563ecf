import type { ElementDefinition } from '../../types';
import { elementTypes, escapeHtml } from '..';
import type { ElementData, ElementType, ShowContext } from '../types';

/**
 * An element as a definition has it once it is read.
 * @param given label and the like, and settings of its type by the names that the type gives them
 */
export function elementOf(type: string, given: Readonly<Record<string, unknown>> = {}): ElementDefinition {
  const kind = elementTypes.get(type) as ElementType;
  const own = new Set(Object.values(kind.settings).flatMap((one) => ('own' in one ? [one.own] : [])));
  const [shared, settings] = [false, true].map((isOwn) =>
    Object.fromEntries(Object.entries(given).filter(([name]) => own.has(name) === isOwn)),
  );
  return { name: 'a', ...shared, type, kind, settings: settings ?? {}, position: { file: 'x.yaml' } };
}

/** Content and records of a site that has none. */
export const noData: ElementData = {
  attempt: {},
  app: 'a',
  contentFields: () => null,
  content: async () => [],
  records: async () => null,
};

/** What showing an element may use, in a form that has its usual values. */
export const noServices: ShowContext = {
  markdown: async (text) => escapeHtml(text),
  data: noData,
  options: async () => new Map(),
  files: () => [],
  beside: () => ({ error: null, autofocus: false }),
  sent: null,
  ofEntries: null,
};
