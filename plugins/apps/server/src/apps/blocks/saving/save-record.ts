import { type Items, itemOf, type Json } from '../../../../../shared/json';
import { logicError } from '../../../common/errors';
import type { Region } from '../../../common/time/moments';
import type { StoredRecord } from '../../../records/types';
import { type FormFields, idsIn, type SentEntries } from '../../elements';
import { elementData } from '../../run/element-data';
import { issueOwnLink } from '../../run/own-link';
import { settlePlaces } from '../../run/places/settle';
import { type FormError, refuseInvalid } from '../../run/refusals';
import { redirectOf } from '../../run/response';
import { keyOf } from '../../run/run';
import type { Run } from '../../run/types';
import { localeOf } from '../../run/visits';
import type { Block, ElementDefinition, ElementOption } from '../../types';
import { type BlockSession, withSession } from '../block-session';
import { type FormVersion, sentDigest, storedDigest, tagOf, versionIn } from '../sent/inputs';
import { readableLine } from './readable-values';

interface SaveOptions {
  /** The record is new: `COMPUTED_ON_CREATION` elements are computed too. */
  creation: boolean;
  /** The new record was given no id: the block's `record_id` may choose it. */
  choosesId?: boolean;
  /** The maker of the new record gets its link where the block offers one: mails about the record can name it. */
  issuesLink?: boolean;
}

interface Saved {
  record: StoredRecord;
  /** What `on_save` returned. */
  returned: Json;
  /** Where `on_save` redirects to, or null. */
  redirect: string | null;
}

/**
 * Saves a record of a block in a session of it: its computed elements are stored, `record_id` names it, `on_save` runs
 * (docs/reference/logic.md#functions). The record is already in the run's unit of work, and its items are checked; any
 * failure fails the request.
 */
export async function saveInSession(
  run: Run,
  block: Block,
  session: BlockSession,
  record: StoredRecord,
  options: SaveOptions,
): Promise<Saved> {
  const saving = new Set([addressOf(run, record.id)]);
  for (const address of saving) run.saving.add(address);
  try {
    await session.setRecord(record);
    let current = await storeComputed(run, block, session, record, options.creation);
    if (options.choosesId && session.has('record_id')) {
      current = await renamed(run, session, current);
      saving.add(addressOf(run, current.id));
      run.saving.add(addressOf(run, current.id));
    }
    if (options.issuesLink) issueOwnLink(run, block, current);
    const { places, states, receipt } = block.definition;
    if (places || states || receipt?.confirm) await givePlace(run, session, current);
    const returned = (await session.run(['on_save'], true)).get('on_save') ?? null;
    // Inside another block the calling function goes on, and the request is refused after it.
    if (run.depth === 0) refuseInvalid(run);
    return { record: await currentRecord(run, current.id), returned, redirect: redirectOf(run, returned) };
  } finally {
    for (const address of saving) run.saving.delete(address);
  }
}

/** Gives the record its place, so that `on_save` and the mails of the form know whether it waits for one, or until it is confirmed. */
async function givePlace(run: Run, session: BlockSession, { id }: StoredRecord): Promise<void> {
  await settlePlaces(run);
  await session.setRecord(await currentRecord(run, id));
}

/** The record under the id that the block's `record_id` gives; its own where that gives none. */
async function renamed(run: Run, session: BlockSession, record: StoredRecord): Promise<StoredRecord> {
  const id = (await session.run(['record_id'], true)).get('record_id') ?? null;
  if (run.depth === 0) refuseInvalid(run);
  const current = await currentRecord(run, record.id);
  const named = id === null ? current : await run.unit.rename(keyOf(run), current.id, readId(id), 'number');
  await session.setRecord(named);
  return named;
}

async function storeComputed(
  run: Run,
  block: Block,
  session: BlockSession,
  record: StoredRecord,
  creation: boolean,
): Promise<StoredRecord> {
  const names = [...block.definition.elements.values()]
    .filter(({ mode }) => mode === 'COMPUTED_ON_SAVE' || (creation && mode === 'COMPUTED_ON_CREATION'))
    .map(({ name }) => name);
  const values = await session.run(names);
  if (values.size === 0) return record;
  const set = Object.fromEntries(values) as Items;
  const changed = await run.unit.update(keyOf(run), record.id, { set });
  await session.setRecord(changed);
  return changed;
}

/** The record with the changes of logic. */
async function currentRecord(run: Run, id: string): Promise<StoredRecord> {
  const record = await run.unit.get(keyOf(run), id);
  if (!record) throw logicError('The block deleted the record that was being saved');
  return record;
}

function readId(value: unknown): string {
  // An empty id is refused like any other wrong id: 400.
  if (typeof value === 'string') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  throw logicError('record_id must return a string');
}

/** Whether the `on_delete` of this record is running in this request, so that it must not run again. */
export const isBeingDeleted = (run: Run, { id }: StoredRecord): boolean => run.deleting.has(addressOf(run, id));

/** Whether this record is being saved in this request: a `save()` by its own functions must not save it again. */
export const isBeingSaved = (run: Run, { id }: StoredRecord): boolean => run.saving.has(addressOf(run, id));

const addressOf = (run: Run, id: string) => `${run.app.id}\n${id}`;

/** Runs the block's `on_delete` and deletes the record; returns the address it redirects to, or null. */
export async function deleteRecord(run: Run, block: Block | null, record: StoredRecord): Promise<string | null> {
  if (block?.logic) return withSession(run, block, record, (session) => deleteInSession(run, session, record));
  await run.unit.delete(keyOf(run), record.id);
  return null;
}

/** `deleteRecord` in an open session that has the record as its `context.record`. */
export async function deleteInSession(run: Run, session: BlockSession, record: StoredRecord): Promise<string | null> {
  const deletion = addressOf(run, record.id);
  run.deleting.add(deletion);
  try {
    const redirect = redirectOf(run, (await session.run(['on_delete'], true)).get('on_delete'));
    if (run.depth === 0) refuseInvalid(run);
    await run.unit.delete(keyOf(run), record.id);
    return redirect;
  } finally {
    run.deleting.delete(deletion);
  }
}

/** The record that a form changes. */
export interface ChangedRecord {
  /** Its items now. */
  items: Items;
  tag: string;
  /** The version that the form has shown; null where it does not say. */
  version: FormVersion | null;
}

export const changedRecord = (record: StoredRecord, fields: FormFields): ChangedRecord => ({
  items: record.items,
  tag: tagOf(record),
  version: versionIn(fields, record),
});

interface SentField {
  submitted: readonly string[];
  entries: SentEntries;
  before: ChangedRecord;
  region: Region;
}

/** Who has changed a field since the form was shown: its sender, somebody else, both to different values, or none of them. */
export function changeOf(
  element: ElementDefinition,
  { submitted, entries, before: { items, tag, version }, region }: SentField,
): 'none' | 'own' | 'theirs' | 'both' {
  const now = storedDigest(element, itemOf(items, element.name), region);
  const sent = sentDigest(element, submitted, entries);
  if (sent === now) return 'none';
  const shown = version?.digests.get(element.name);
  if (shown === undefined) return version && version.tag !== tag ? 'both' : 'own';
  if (sent === shown) return 'theirs';
  return now === shown ? 'own' : 'both';
}

/** Characters of a stored value in a message. */
const MAX_SHOWN = 1_000;

/** What a form says that has changed what somebody else has changed too: above it, and beside each field what is stored now. */
export async function conflictErrors(
  run: Run,
  elements: readonly ElementDefinition[],
  items: Items,
  options: ReadonlyMap<string, readonly ElementOption[]>,
): Promise<FormError[]> {
  if (elements.length === 0) return [];
  const locale = await localeOf(run);
  const errors: FormError[] = [{ path: [], message: locale.say('changed_form') }];
  for (const element of elements) {
    const value = itemOf(items, element.name);
    const own = await optionsFor(run, element, value, options);
    const text = readableLine(element, value, locale, own).slice(0, MAX_SHOWN);
    const said = text === '' ? locale.say('changed_empty') : locale.say('changed_field', { value: text });
    errors.push({ path: [element.name], message: said });
  }
  return errors;
}

async function optionsFor(
  run: Run,
  element: ElementDefinition,
  value: Json,
  options: ReadonlyMap<string, readonly ElementOption[]>,
): Promise<readonly ElementOption[]> {
  const { targets } = element.kind;
  if (!targets) return options.get(element.name) ?? [];
  return (await targets(idsIn(value), element, elementData(run))).map(({ id, label }) => ({ value: id, label }));
}

/** The elements that conflict errors are about. */
export const conflictsIn = ({ conflicts }: { conflicts: readonly FormError[] }): string[] =>
  conflicts.flatMap(({ path }) => path);
