import { memoized } from '../../common/collections';
import type { App, Definition } from '../types';
import { fieldsOf } from './parts';

/** Names of the elements of a definition whose values are addresses of persons; those of repeated groups by the group. */
export interface PersonElements {
  own: readonly string[];
  groups: ReadonlyMap<string, readonly string[]>;
}

/** The elements with `person` of a block. */
export const personElements = memoized(({ elements }: Pick<Definition, 'elements'>): PersonElements => {
  const all = [...elements.values()];
  const groups = all.flatMap((element): [string, string[]][] => {
    const fields = [...(fieldsOf(element)?.values() ?? [])].filter(({ person }) => person).map((field) => field.name);
    return fields.length > 0 ? [[element.name, fields]] : [];
  });
  return { own: all.filter(({ person }) => person).map(({ name }) => name), groups: new Map(groups) };
});

/** Names of all elements with `person` of an app, those in entries too. */
export const personNames = memoized(({ blocks }: Pick<App, 'blocks'>): ReadonlySet<string> => {
  const found = [...blocks.values()].map(({ definition }) => personElements(definition));
  return new Set(found.flatMap(({ own, groups }) => [...own, ...[...groups.values()].flat()]));
});
