import type { Json } from '../../../../shared/json';
import { type ChangedRecord, digestOfIndexes, type RecordState } from '../../apps';
import type { IndexDeclarations } from '../../indexes/types';
import type { Items } from '../../records/types';
import type { AppChanges } from './publication';

/** Characters of one item, of one changed record, and of all of one app that other processes get. */
const MAX_ITEM = 1_500;
const MAX_RECORD = 4_000;
const MAX_APP = 200_000;

/**
 * What conditions can look at in changed records: items with an index, and the block. Larger items are named without their
 * values; null where the rest is too large, or the app is unknown.
 */
export function projected(records: AppChanges, declared: IndexDeclarations | null): AppChanges {
  if (!declared || !records) return null;
  const indexes = digestOfIndexes(declared);
  const names = [...declared.keys()].filter((name) => name !== 'id' && name !== 'block');
  const state = (from: RecordState | null) => from && projectedState(from, [...names, 'block']);
  const kept: ChangedRecord[] = [];
  let total = 0;
  for (const { before, after } of records) {
    const change = { before: state(before), after: state(after), indexes };
    const { length } = JSON.stringify(change);
    total += length;
    if (length > MAX_RECORD || total > MAX_APP) return null;
    kept.push(change);
  }
  return kept;
}

function projectedState({ id, creator, items, cut = [] }: RecordState, names: readonly string[]): RecordState {
  const kept: Items = {};
  const left = [...cut];
  for (const name of names) {
    if (!Object.hasOwn(items, name)) continue;
    const value = items[name] as Json;
    if (isSmall(value)) kept[name] = value;
    else left.push(name);
  }
  return { id, creator, items: kept, ...(left.length > 0 && { cut: left }) };
}

/** Without the text itself, which may be megabytes. */
const isSmall = (value: Json): boolean => sizeOf(value, MAX_ITEM) <= MAX_ITEM;

function sizeOf(value: Json, max: number): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 5;
  let size = 2;
  for (const name in value) {
    const part = (value as Record<string, Json>)[name] as Json;
    size += name.length + sizeOf(part, max - size);
    if (size > max) break;
  }
  return size;
}
