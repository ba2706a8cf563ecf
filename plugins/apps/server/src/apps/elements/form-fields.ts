/** The place of a form's pages in a layout. */
export const PAGES = '_pages';

/** Fields and buttons of a form with pages. */
export const pageFields = { page: '_page', seen: '_seen', next: '_next', back: '_back' } as const;

/** Buttons and fields of the search for targets have the element's name before these. */
export const referenceFields = { find: ':find', search: ':search' } as const;

/** Form fields as submitted: text, or a list of texts where a name came more than once. */
export type FormFields = Readonly<Record<string, unknown>>;

/** The texts that a form has sent for a field. */
export function textsOf(value: unknown): string[] {
  const list = Array.isArray(value) ? value : value === undefined ? [] : [value];
  return list.filter((entry) => typeof entry !== 'object' || entry === null).map((entry) => String(entry ?? ''));
}
