/**
 * What a product of bounds consists of. Each dimension is one thing that somebody can make large, at its limit; the generator takes
 * two or three of them at once, because each bound may be fine alone and their product not (docs/decisions/bounds.md).
 */

/** What a theme's author and the records have made; a dimension adds its part. */
export interface Plan {
  /** The elements of the block's definition. */
  elements: Record<string, object | string>;
  /** More keys of the definition. */
  keys: Record<string, unknown>;
  /** Pages of the form; 0: it has none. */
  pages: number;
  /** More keys of the app's settings. */
  settings: Record<string, unknown>;
  /** Functions of the block's logic. */
  functions: string[];
  /** The layout. */
  layout: string[];
  /** Other files, by path below the theme's folder. */
  files: Record<string, string>;
  /** Fields of a form that a visitor sends. */
  fields: [name: string, value: string][];
  /** Items of each record, and how many records the app has. */
  items: Record<string, unknown>;
  records: number;
}

export const emptyPlan = (): Plan => ({
  elements: {},
  keys: {},
  pages: 0,
  settings: {},
  functions: [],
  layout: [],
  files: {},
  fields: [],
  items: {},
  records: 1,
});

/** Who can make it large: a visitor, an author of records, a theme's author. */
export type By = 'visitor' | 'author of records' | 'theme author';

/** One thing that can be made large. */
export interface Dimension {
  by: Exclude<By, 'visitor'>;
  /**
   * Brings it into a plan, at its limit.
   * @param share its share of a limit that it has in common with others of the plan, such as the length of a definition
   */
  add(plan: Plan, share: number): void;
}

/** `count` names that begin with a letter of their own. */
export const numbered = (letter: string, count: number): string[] =>
  Array.from({ length: Math.floor(count) }, (_, at) => `${letter}${at}`);
