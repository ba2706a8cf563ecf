import type { FormError } from '../../run/refusals';

/** Form fields as submitted: text, or a list of texts where a name came more than once. */
export type FormFields = Readonly<Record<string, unknown>>;

/** An entry of a repeated group as a form has sent it: texts by field. */
export type SentEntry = ReadonlyMap<string, readonly string[]>;

/** An entry that a form shows again; null for a new one. */
export type ShownEntry = SentEntry | null;

/** What a form shows again: the submitted entries, and what was wrong with them. */
export interface Entries {
  /** Submitted entries by element. */
  entered: ReadonlyMap<string, readonly string[]>;
  /** Entries of repeated groups, by element. */
  repeats: ReadonlyMap<string, readonly ShownEntry[]>;
  /** The repeated group and the position of its entry that get the focus; -1: its button to add one. */
  focus?: { element: string; position: number };
  /** Texts by which targets of references are looked for, by element, and the element whose button was pressed. */
  searches?: ReadonlyMap<string, string>;
  searched?: string | undefined;
  errors: readonly FormError[];
}

/** The texts that a form has sent for a field. */
export function textsOf(value: unknown): string[] {
  const list = Array.isArray(value) ? value : value === undefined ? [] : [value];
  return list.filter((entry) => typeof entry !== 'object' || entry === null).map((entry) => String(entry ?? ''));
}
