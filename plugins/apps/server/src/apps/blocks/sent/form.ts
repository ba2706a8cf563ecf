import type { FormError } from '../../run/refusals';

/** Form fields as submitted: text, or a list of texts where a name came more than once. */
export type FormFields = Readonly<Record<string, unknown>>;

/** An entry of a repeated group as a form has sent it: texts by field, and under ORIGIN which stored entry it has shown. */
export type SentEntry = ReadonlyMap<string, readonly string[]>;

/** No field has this name. */
const ORIGIN = '';

/** The field that marks an entry of a form has this before the position of the stored entry that it shows. */
const MARK = /^s(\d{1,5})$/;

/** What an entry of a form keeps of the field that marks it; none for a new entry. */
export const originOf = (mark: unknown): [string, readonly string[]][] =>
  typeof mark === 'string' && MARK.test(mark) ? [[ORIGIN, [mark]]] : [];

/** The text that marks an entry of a form. */
export const markOf = (position: number | null): string => (position === null ? '1' : `s${position}`);

/** The position of the stored entry that an entry of a form shows; null for a new one. */
export function positionOf(entry: SentEntry | null): number | null {
  const [, digits] = MARK.exec(entry?.get(ORIGIN)?.[0] ?? '') ?? [];
  return digits === undefined ? null : Number(digits);
}

/** The texts of an entry's fields. */
export const textsIn = (entry: SentEntry): string[] =>
  [...entry].flatMap(([field, texts]) => (field === ORIGIN ? [] : texts));

/** An entry without the mark of the stored one. */
export const withoutOrigin = (entry: SentEntry | null): SentEntry | null =>
  entry && new Map([...entry].filter(([field]) => field !== ORIGIN));

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
