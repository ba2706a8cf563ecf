import type { IndexDeclarations, IndexType } from '../types';

/** One index of a generation; its number identifies its column and its rows in the generation's tables. */
export interface LaidOutIndex {
  readonly name: string;
  readonly type: IndexType;
  readonly number: number;
}

/** The indexes of one generation of an app's index tables, by name. */
export type Layout = ReadonlyMap<string, LaidOutIndex>;

/** The stored form: name and type, in the order of their numbers. */
export type StoredLayout = [string, IndexType][];

/**
 * The field index of the records' creators, by which searches find those of one (docs/decisions/own-records.md). A generation
 * has it, and each other of the plugin's own, once a search has needed it.
 */
export const CREATOR_INDEX = '@creator';

/** The keyword index of the files that records name, by which their removal finds the records that still do (docs/decisions/files.md). */
export const FILES_INDEX = '@files';

/** The keyword index of records that wait until they are confirmed, which others than editors do not see (docs/decisions/confirmation.md). */
export const UNCONFIRMED_INDEX = '@unconfirmed';

/** The field index of the blocks that records belong to, by which logic searches for the records of one (docs/reference/logic.md#contextapp). */
export const BLOCK_INDEX = '@block';

/** Whether an index is the plugin's own, which no app declares and no query can name: names of elements have no `@`. */
export const isOwnIndex = (name: string): boolean => name.startsWith('@');

/** All declared indexes and `id`, which is always a field index, in order of name. */
export function storedLayout(declared: IndexDeclarations): StoredLayout {
  const all = new Map<string, IndexType>([...declared, ['id', 'field']]);
  return [...all].sort(([a], [b]) => (a < b ? -1 : 1));
}

export function layoutOf(stored: StoredLayout): Layout {
  return new Map(stored.map(([name, type], number) => [name, { name, type, number }]));
}

/** The layout's field indexes; each has a column `k<number>`. */
export function fieldIndexes(layout: Layout): LaidOutIndex[] {
  return [...layout.values()].filter((index) => index.type === 'field');
}

/** Names of a generation's tables: `fields` has one row per record, `terms` keywords and words, `bodies` texts too long for keys. */
export interface Tables {
  fields: string;
  terms: string;
  bodies: string;
}

export function tablesOf(generation: string): Tables {
  return {
    fields: `apps_index_${generation}_fields`,
    terms: `apps_index_${generation}_terms`,
    bodies: `apps_index_${generation}_bodies`,
  };
}
