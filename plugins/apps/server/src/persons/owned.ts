import type { Items } from '../../../shared/json';
import { isItems, type Json } from '../../../shared/json';
import { personElements } from '../apps';
import type { App, Block } from '../apps/types';
import type { StoredRecord } from '../records/types';
import type { Person } from './types';

/** What goes of a record: all of it, or some items. */
export type Forgetting = { does: 'delete' } | { does: 'anonymize' | 'change'; items: string[]; set: Items };

/** The block of a record, with a definition that can be read; null where the theme has no such block. Throws the error of a broken one. */
export function definedBlock(app: App | null, { block: id }: Items): Block | null {
  const block = typeof id === 'string' ? app?.blocks.get(id) : undefined;
  if (block?.error) throw block.error;
  return block ?? null;
}

/** What goes of a record whose time is over, or whose person is erased: by its definition. Null: nothing is left to go. */
export function forgettingOf(
  block: Block | null,
  { items, creator }: Pick<StoredRecord, 'items' | 'creator'>,
): Forgetting | null {
  const names = block?.definition.privacy.anonymize ?? null;
  if (names === null) return { does: 'delete' };
  const there = names.filter((name) => Object.hasOwn(items, name));
  return there.length > 0 || creator !== null ? { does: 'anonymize', items: there, set: {} } : null;
}

/**
 * What goes of a record when a person is erased: of an own one what its definition says; of one that has the address only in entries of
 * a repeated group, these entries. Null: it is not the person's.
 */
export function ofPerson(
  app: App | null,
  person: Person,
  record: Pick<StoredRecord, 'items' | 'creator'>,
): Forgetting | null {
  const { items, creator } = record;
  const block = definedBlock(app, items);
  const isOwner = person.user !== null && creator === person.user.identity;
  if (isOwner || hasAddress(block, person, items)) return forgettingOf(block, record);
  const set = block ? withoutEntries(block, person, items) : {};
  const changed = Object.keys(set);
  return changed.length > 0 ? { does: 'change', items: changed, set } : null;
}

/** Of a block that the theme no longer has, each item may be a person's address. */
function hasAddress(block: Block | null, { search }: Person, items: Items): boolean {
  if (!search) return false;
  if (!block) return Object.values(items).some(search.isSame);
  return personElements(block.definition).own.some(
    (name) => Object.hasOwn(items, name) && search.isSame(items[name] ?? null),
  );
}

/** The repeated groups that have entries of the person, without these. */
function withoutEntries({ definition }: Block, { search }: Person, items: Items): Items {
  if (!search) return {};
  const isOwn = (entry: Json, fields: readonly string[]): boolean =>
    isItems(entry) && fields.some((name) => Object.hasOwn(entry, name) && search.isSame(entry[name] ?? null));
  const changed = [...personElements(definition).groups].flatMap(([name, fields]): [string, Json][] => {
    const entries = Object.hasOwn(items, name) ? items[name] : null;
    if (!Array.isArray(entries)) return [];
    const others = entries.filter((entry) => !isOwn(entry, fields));
    return others.length < entries.length ? [[name, others]] : [];
  });
  return Object.fromEntries(changed);
}
