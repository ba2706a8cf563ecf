import { type Items, itemOf, type Json } from '../../../../shared/json';
import { seesRecords } from '../../auth';
import { definitionError, isAppsError } from '../../common/errors';
import { expectWork } from '../../common/time/pace';
import { fold, words } from '../../indexes';
import type { StoredRecord } from '../../records/types';
import { MAX_REFERENCES } from '../elements';
import { confirmedOnly, onlyOf, visibleIn } from '../run/confirmed';
import { shownInRun } from '../run/files';
import { keyOf, nestedRun } from '../run/run';
import type { Run } from '../run/types';
import type { App, ElementDefinition } from '../types';

/** What a reference leads to, as far as the requester may see it. */
export interface Target {
  id: string;
  label: string;
  url: string | null;
  /** Its fields, for layouts. */
  parts: Items;
}

/** Records that are looked through for a text without a text index. */
const MAX_SCANNED = 1_000;

/** Words of a search by a text index. */
const MAX_WORDS = 10;

/** Targets found in one attempt at a request, by element and id, so that a page of many references asks once for each. */
const found = new WeakMap<Run['unit'], Map<string, Promise<Target | null>>>();

/** Targets offered in one attempt, by element and text: all entries of a repeated group offer the same. */
const offered = new WeakMap<Run['unit'], Map<string, Promise<Target[]>>>();

/** What names the targets of an element in a run, and further texts. */
const keyFor = (run: Run, { content, app, block, query, text }: ElementDefinition, ...more: string[]): string =>
  JSON.stringify([content, app, block, query, text, run.app.id, ...more]);

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
export function offeredTargets(run: Run, element: ElementDefinition, find: string): Promise<Target[]> {
  const known = offered.get(run.unit) ?? new Map<string, Promise<Target[]>>();
  offered.set(run.unit, known);
  const key = keyFor(run, element, find);
  const targets = known.get(key) ?? findTargets(run, element, find);
  known.set(key, targets);
  return targets;
}

function findTargets(run: Run, element: ElementDefinition, find: string): Promise<Target[]> {
  const { content, text } = element;
  if (content === undefined) return emptyIfHidden(() => recordTargets(run, element, find));
  const label = text ?? titleField(run, element);
  return emptyIfHidden(() =>
    contentTargets(run, element, {
      ...(find !== '' && label !== null && { filters: { [label]: { $containsi: find } } }),
      ...(label !== null && { sort: label }),
      limit: MAX_REFERENCES.offered + 1,
    }),
  );
}

/** Milliseconds that a target takes about to be read. */
const LOAD_TIME = 0.3;

/** The targets of these ids, in their order; without those that are gone or that the requester may not see. */
export async function targetsOf(run: Run, element: ElementDefinition, ids: readonly string[]): Promise<Target[]> {
  const known = found.get(run.unit) ?? new Map<string, Promise<Target | null>>();
  found.set(run.unit, known);
  const keyOfTarget = (id: string) => keyFor(run, element, id);
  const wanted = [...new Set(ids)];
  const missing = wanted.filter((id) => !known.has(keyOfTarget(id)));
  for (let at = 0; at < missing.length; at += MAX_REFERENCES.chosen) {
    const chunk = missing.slice(at, at + MAX_REFERENCES.chosen);
    const loaded = load(run, element, chunk);
    for (const id of chunk)
      known.set(
        keyOfTarget(id),
        loaded.then((targets) => targets.find((target) => target.id === id) ?? null),
      );
  }
  const targets = await Promise.all(wanted.map((id) => known.get(keyOfTarget(id))));
  return targets.filter((target) => target !== null && target !== undefined);
}

async function load(run: Run, element: ElementDefinition, ids: readonly string[]): Promise<Target[]> {
  await expectWork(LOAD_TIME * ids.length);
  if (element.content !== undefined)
    return emptyIfHidden(() =>
      contentTargets(run, element, { filters: { documentId: { $in: [...ids] } }, limit: ids.length }),
    );
  return emptyIfHidden(async () => {
    const { run: target, app } = await openApp(run, element);
    if (!seesRecords(target.rights)) return [];
    const all = await Promise.all(ids.map((id) => recordOf(target, id)));
    const records = all.filter((record) => record !== null && isOfBlock(element, record)) as StoredRecord[];
    const matching = element.query === undefined ? null : await matchingIds(target, element, records);
    return (await shownInRun(target, app.id, records))
      .filter(({ id }) => matching?.has(id) ?? true)
      .map((record) => recordTarget(target, app, element, record));
  });
}

/** A record, or null; an id that no record can have is none. */
async function recordOf(target: Run, id: string): Promise<StoredRecord | null> {
  try {
    return visibleIn(target, await target.unit.get(keyOf(target), id, target.rights.viewOwn ?? undefined));
  } catch (error) {
    if (isAppsError(error, 'BadRequestError')) return null;
    throw error;
  }
}

/** Ids of those records that the element's query finds. */
async function matchingIds(target: Run, { query }: ElementDefinition, records: StoredRecord[]): Promise<Set<string>> {
  const names = { reference_ids: records.map(({ id }) => id) };
  const options = { query: `(${query}) and id in any (reference_ids)`, names, limit: Math.max(1, records.length) };
  const { viewOwn } = target.rights;
  const { records: matching } = await target.unit.search(keyOf(target), target.app.indexes, {
    ...options,
    ...(viewOwn === null ? {} : { creator: viewOwn }),
    ...confirmedOnly(target),
  });
  return new Set(matching.map(({ id }) => id));
}

/** The first text field of a content type that is its title; null if there is none. */
function titleField(run: Run, element: ElementDefinition): string | null {
  const type = run.services.sites.content.typeNamed(element.content ?? '');
  if (!type) throw definitionError(`There is no content type "${element.content}"`, element.position);
  return ['title', 'name'].find((name) => Object.hasOwn(type.attributes, name)) ?? null;
}

async function contentTargets(run: Run, element: ElementDefinition, params: Items): Promise<Target[]> {
  const { visit, services } = run;
  const uid = element.content ?? '';
  titleField(run, element);
  const call = await services.documents(uid, 'findMany', { ...params, locale: visit.site.locale }, visit.requester);
  const documents = (await run.unit.alongside(call.run)) as Items[];
  const targets = documents.map(async (fields): Promise<Target | null> => {
    const item = await services.sites.content.describe(visit.site, uid, fields, { draft: false });
    if (!item?.documentId) return null;
    const label = textOf(element.text === undefined ? item.title : itemOf(fields, element.text));
    const { title, url, documentId } = item;
    return { id: documentId, label: label || documentId, url, parts: { ...fields, title, url, id: documentId } };
  });
  return (await Promise.all(targets)).filter((target) => target !== null);
}

/** The app of the records, with the requester's rights there. */
async function openApp(run: Run, { app: id, position }: ElementDefinition): Promise<{ run: Run; app: App }> {
  const app = id === run.app.id ? run.app : await run.services.loadApp(run.visit.site, id ?? '');
  if (!app) throw definitionError(`There is no app "${id}"`, position);
  if (app.error) throw app.error;
  return { run: app === run.app ? run : nestedRun(run, app), app };
}

const isOfBlock = ({ block }: ElementDefinition, { items }: StoredRecord) =>
  block === undefined || items.block === block;

async function recordTargets(run: Run, element: ElementDefinition, find: string): Promise<Target[]> {
  const { run: target, app } = await openApp(run, element);
  if (!seesRecords(target.rights)) return [];
  const beginnings = wordsOf(find);
  const isIndexed = element.text !== undefined && app.indexes.get(element.text) === 'text';
  const conditions = [element.query, isIndexed && beginnings !== '' ? `reference_words in ${element.text}` : undefined];
  const query = conditions
    .filter((one) => one !== undefined)
    .map((one) => `(${one})`)
    .join(' and ');
  const { viewOwn } = target.rights;
  const records =
    query === '' && viewOwn === null
      ? await target.unit.page(keyOf(target), { limit: MAX_SCANNED, only: onlyOf(app, confirmedOnly(target)) })
      : (
          await target.unit.search(keyOf(target), app.indexes, {
            query,
            names: { reference_words: beginnings },
            limit: MAX_SCANNED,
            ...(viewOwn === null ? {} : { creator: viewOwn }),
            ...confirmedOnly(target),
          })
        ).records;
  const wanted = isIndexed ? '' : fold(find);
  const labelOf = (record: StoredRecord) => recordTarget(target, app, element, record).label;
  const chosen = records
    .filter((record) => isOfBlock(element, record) && fold(labelOf(record)).includes(wanted))
    .slice(0, MAX_REFERENCES.offered + 1);
  return (await shownInRun(target, app.id, chosen)).map((record) => recordTarget(target, app, element, record));
}

/** A search text that finds words which begin with these. */
const wordsOf = (find: string): string =>
  words(find)
    .slice(0, MAX_WORDS)
    .map((word) => `${word}*`)
    .join(' ');

function recordTarget(target: Run, app: App, { text }: ElementDefinition, { id, items }: StoredRecord): Target {
  const { visit, services } = target;
  const label = text === undefined ? '' : textOf(itemOf(items, text));
  const url = services.sites.urls.record(visit.site, app.id, id, visit.contentPath);
  return { id, label: label || id, url, parts: { ...items, id, url } };
}

/** Characters of a label. */
const MAX_LABEL = 200;

const textOf = (value: Json): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, MAX_LABEL) : '';
