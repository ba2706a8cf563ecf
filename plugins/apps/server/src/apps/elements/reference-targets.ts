import { type Items, itemOf, type Json } from '../../../../shared/json';
import { isFreeWord } from '../../../../shared/query/parse';
import { definitionError, isAppsError } from '../../common/errors';
import { OwnValue } from '../../common/request-objects';
import { expectWork, shortWork } from '../../common/time/pace';
import { fold, words } from '../../indexes';
import type { StoredRecord } from '../../records/types';
import type { ElementDefinition } from '../types';
import type { Multiple, Placeholder } from './inputs/settings';
import type { ContentEntry, ElementData, ReferenceTarget, VisibleRecords } from './types';

/** Targets that a form offers at once, targets of one element with `multiple`, and ids of a stored value that are looked up. */
export const MAX_REFERENCES = { offered: 100, chosen: 50, shown: 500 };

export type ReferenceSettings = Placeholder &
  Multiple & {
    /** What it leads to: a content type, or records of an app, of one block and found by a query. */
    content?: string;
    app?: string;
    block?: string;
    query?: string;
    /** The field or item that is the text of a target. */
    text?: string;
    /** Targets with `multiple`. */
    max?: number;
  };

type Reference = ElementDefinition<ReferenceSettings>;

/** Records that are looked through for a text without a text index. */
const MAX_SCANNED = 1_000;

/** Words of a search by a text index. */
const MAX_WORDS = 10;

/** Targets found in one attempt at a request, by element and id, so that a page of many references asks once for each. */
const found = new OwnValue<object, Map<string, Promise<ReferenceTarget | null>>>('targets');

/** Targets offered in one attempt, by element and text: all entries of a repeated group offer the same. */
const offered = new OwnValue<object, Map<string, Promise<ReferenceTarget[]>>>('offered targets');

/** What names the targets of an element in a run, and further texts. */
const keyFor = (data: ElementData, { settings }: Reference, ...more: string[]): string => {
  const { content, app, block, query, text } = settings;
  return JSON.stringify([content, app, block, query, text, data.app, ...more]);
};

/** Statuses of what the requester may not see or does not exist. */
const hiddenStatuses = new Set([401, 403, 404]);

/** What `work` returns, or [] where the requester may not read it. */
async function emptyIfHidden<T>(work: () => Promise<T[]>): Promise<T[]> {
  try {
    return await work();
  } catch (error) {
    if (isAppsError(error) && hiddenStatuses.has(error.status)) return [];
    throw error;
  }
}

/** Targets that a form may offer, by a part of their text: at most one more than it offers. */
export function offeredTargets(data: ElementData, element: Reference, find: string): Promise<ReferenceTarget[]> {
  const known = offered.getOrMake(data.attempt, () => new Map());
  const key = keyFor(data, element, find);
  const targets = known.get(key) ?? emptyIfHidden(() => findTargets(data, element, find));
  known.set(key, targets);
  return targets;
}

function findTargets(data: ElementData, element: Reference, find: string): Promise<ReferenceTarget[]> {
  if (element.settings.content === undefined) return recordTargets(data, element, find);
  const label = element.settings.text ?? titleField(data, element);
  return contentTargets(data, element, {
    ...(find !== '' && label !== null && { filters: { [label]: { $containsi: find } } }),
    ...(label !== null && { sort: label }),
    limit: MAX_REFERENCES.offered + 1,
  });
}

/** Milliseconds that a target takes about to be read. */
const LOAD_TIME = 0.3;

/** The targets of these ids, in their order; without those that are gone or that the requester may not see. */
export async function targetsOf(
  data: ElementData,
  element: Reference,
  ids: readonly string[],
): Promise<ReferenceTarget[]> {
  const known = found.getOrMake(data.attempt, () => new Map());
  const keyOfTarget = (id: string) => keyFor(data, element, id);
  const wanted = [...new Set(ids)];
  const missing = wanted.filter((id) => !known.has(keyOfTarget(id)));
  for (let at = 0; at < missing.length; at += MAX_REFERENCES.chosen) {
    const chunk = missing.slice(at, at + MAX_REFERENCES.chosen);
    const loaded = load(data, element, chunk);
    for (const id of chunk)
      known.set(
        keyOfTarget(id),
        loaded.then((targets) => targets.find((target) => target.id === id) ?? null),
      );
  }
  const targets = await Promise.all(wanted.map((id) => known.get(keyOfTarget(id))));
  return targets.filter((target) => target !== null && target !== undefined);
}

async function load(data: ElementData, element: Reference, ids: readonly string[]): Promise<ReferenceTarget[]> {
  await expectWork(LOAD_TIME * ids.length);
  if (element.settings.content !== undefined)
    return emptyIfHidden(() =>
      contentTargets(data, element, { filters: { documentId: { $in: [...ids] } }, limit: ids.length }),
    );
  return emptyIfHidden(async () => {
    const records = await recordsOf(data, element);
    if (!records) return [];
    const all = await Promise.all(ids.map((id) => records.get(id)));
    const own = await kept(all, (record) => record !== null && isOfBlock(element, record) && record);
    const matching = await matchingIds(records, element, own);
    const shown = (await records.shown(own)).filter(({ id }) => matching?.has(id) ?? true);
    return kept(shown, (record) => recordTarget(records, element, record));
  });
}

const recordsOf = (data: ElementData, { settings, position }: Reference): Promise<VisibleRecords | null> =>
  data.records(settings.app ?? '', position);

/** Ids of those records that the element's query finds; null without a query. */
async function matchingIds(
  records: VisibleRecords,
  { settings: { query } }: Reference,
  own: readonly StoredRecord[],
): Promise<Set<string> | null> {
  if (query === undefined) return null;
  const names = { reference_ids: own.map(({ id }) => id) };
  const found = await records.search(`(${query}) and id in any (reference_ids)`, names, Math.max(1, own.length));
  return new Set(found.map(({ id }) => id));
}

/** The first text field of a content type that is its title; null if there is none. */
function titleField(data: ElementData, { settings, position }: Reference): string | null {
  const fields = data.contentFields(settings.content ?? '');
  if (!fields) throw definitionError(`There is no content type "${settings.content}"`, position);
  return ['title', 'name'].find((name) => fields.has(name)) ?? null;
}

async function contentTargets(data: ElementData, element: Reference, params: Items): Promise<ReferenceTarget[]> {
  const { content = '', text } = element.settings;
  titleField(data, element);
  const target = ({ id, title, url, fields }: ContentEntry): ReferenceTarget => {
    const label = labelText(text === undefined ? title : itemOf(fields, text));
    return { id, label: label || id, url, parts: { ...fields, title, url, id } };
  };
  return (await data.content(content, params)).map(target);
}

/**
 * What `work` makes of the entries of a list, without `false`. A piece of work for each: a record may be a megabyte, which is parsed when
 * its items are first used.
 */
async function kept<T, R>(list: readonly T[], work: (entry: T) => R | false, limit = list.length): Promise<R[]> {
  const results: R[] = [];
  for (const entry of list) {
    if (results.length === limit) break;
    const result = await shortWork(() => work(entry));
    if (result !== false) results.push(result);
  }
  return results;
}

const isOfBlock = ({ settings: { block } }: Reference, { items }: StoredRecord) =>
  block === undefined || items.block === block;

async function recordTargets(data: ElementData, element: Reference, find: string): Promise<ReferenceTarget[]> {
  const records = await recordsOf(data, element);
  if (!records) return [];
  const { query: own, text, block } = element.settings;
  const beginnings = wordsOf(find);
  const isIndexed = text !== undefined && records.hasWords(text) && isFreeWord(text);
  const conditions = [own, isIndexed && beginnings !== '' ? `reference_words in ${text}` : undefined];
  const query = conditions
    .filter((one) => one !== undefined)
    .map((one) => `(${one})`)
    .join(' and ');
  const found = await records.search(query, { reference_words: beginnings }, MAX_SCANNED, block);
  const wanted = isIndexed ? '' : fold(find);
  const labelOf = (record: StoredRecord) => recordTarget(records, element, record).label;
  const fits = (record: StoredRecord) => fold(labelOf(record)).includes(wanted);
  const chosen = await kept(found, (record) => fits(record) && record, MAX_REFERENCES.offered + 1);
  return kept(await records.shown(chosen), (record) => recordTarget(records, element, record));
}

/** A search text that finds words which begin with these. */
const wordsOf = (find: string): string =>
  words(find)
    .slice(0, MAX_WORDS)
    .map((word) => `${word}*`)
    .join(' ');

function recordTarget(
  records: VisibleRecords,
  { settings: { text } }: Reference,
  { id, items }: StoredRecord,
): ReferenceTarget {
  const label = text === undefined ? '' : labelText(itemOf(items, text));
  const url = records.url(id);
  return { id, label: label || id, url, parts: { ...items, id, url } };
}

/** Characters of a label. */
const MAX_LABEL = 200;

const labelText = (value: Json): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, MAX_LABEL) : '';

/** Ids in a value; those of a long list that a client has stored are looked up to a limit. */
export const idsIn = (value: Json | readonly string[]): string[] =>
  [value]
    .flat()
    .filter((one): one is string => typeof one === 'string' && one !== '')
    .slice(0, MAX_REFERENCES.shown);
