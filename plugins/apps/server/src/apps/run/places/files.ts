import type { Items } from '../../../../../shared/json';
import { documentIdsIn } from '../../../files';
import { FILES_INDEX } from '../../../indexes';
import type { AppKey } from '../../../records/types';
import { FormRefusal } from '../refusals';
import { localeOf } from '../site-locale';
import type { Run } from '../types';
import type { PlaceChange } from './changes';

/** The name by which commits that claim files of one app are locked. */
const CLAIMED = '@files';

/** Whether a record named files before a change or names some after it. */
export const namesFiles = ({ before, after }: PlaceChange): boolean =>
  documentIdsIn(before).length + documentIdsIn(after).length > 0;

/**
 * A private file belongs to one record, whose rights it has: 422 where a changed record comes to name one that another record names, or
 * one of another app (docs/decisions/private-files.md). The commit checks it again, so that of two requests at the same moment one is
 * refused. Files that this request has stored are known to no other one: for them nothing is read.
 */
export async function settleFiles(run: Run, { key, before, after }: PlaceChange): Promise<void> {
  const [had, now] = [new Set(documentIdsIn(before)), new Set(documentIdsIn(after))];
  for (const id of had) if (!now.has(id)) count(run, key, id, -1);
  const taken = [...now].filter((id) => !had.has(id));
  const own = run.visit.files?.storedIds(key) ?? new Set();
  const named = taken.filter((id) => !own.has(id));
  const known = named.length > 0 ? await run.unit.alongside(() => run.services.files.privateFiles(named)) : [];
  const wrong = new Set(known.flatMap(({ documentId, ...of }) => (isOf(of, key) ? [] : [documentId])));
  for (const { documentId } of known) if (!wrong.has(documentId)) await claim(run, key, documentId, wrong);
  for (const id of own) if (now.has(id) && !had.has(id) && count(run, key, id, 1) > 1) wrong.add(id);
  if (wrong.size > 0) throw await refusalOf(run, after ?? {}, wrong);
}

const isOf = ({ site, app }: AppKey, key: AppKey): boolean => site === key.site && app === key.app;

/** Gives the changed record a file that no other record names; else it is wrong. */
async function claim(run: Run, key: AppKey, id: string, wrong: Set<string>): Promise<void> {
  const place = { index: FILES_INDEX, value: id };
  const stored = await run.unit.countPlace(key, new Map(), place, 1);
  if (stored.count + count(run, key, id, 1) > 1) wrong.add(id);
  else run.unit.claim(key, { kind: 'most', block: CLAIMED, place, max: 1 });
}

/** Adds to the number of records by which this attempt changes those that name a file; what it adds then. */
function count({ places }: Run, { site, app }: AppKey, id: string, by: number): number {
  const name = JSON.stringify([site, app, FILES_INDEX, id]);
  const added = (places.added.get(name) ?? 0) + by;
  places.added.set(name, added);
  return added;
}

/** The refusal beside the fields that name the files. */
async function refusalOf(run: Run, items: Items, wrong: ReadonlySet<string>): Promise<FormRefusal> {
  const { say } = await localeOf(run);
  const names = Object.entries(items).flatMap(([name, value]) =>
    documentIdsIn(value).some((id) => wrong.has(id)) ? [name] : [],
  );
  const errors = names.map((name) => ({ path: [name], message: say('file_other') }));
  return new FormRefusal(errors, run.budget);
}
