import { type Items, itemOf, type Json } from '../../../../../shared/json';
import type { Region } from '../../../common/values/moments';
import type { StoredRecord } from '../../../records/types';
import { localeOf } from '../../run/locale';
import type { FormError } from '../../run/refusals';
import type { Run } from '../../run/types';
import type { ElementDefinition, ElementOption } from '../../types';
import { idsIn } from '../display/reference-content';
import { targetsOf } from '../references';
import type { FormFields } from '../sent/form';
import { type FormVersion, sentDigest, storedDigest, tagOf, versionIn } from '../sent/form-version';
import type { SentEntries } from '../sent/sent-entries';
import { readableLine } from './mail-lines';

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
    const text = readableLine({ ...element, options: [...own] }, value, locale.say, locale).slice(0, MAX_SHOWN);
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
  if (element.type !== 'REFERENCE') return options.get(element.name) ?? [];
  return (await targetsOf(run, element, idsIn(value))).map(({ id, label }) => ({ value: id, label }));
}

/** The elements that conflict errors are about. */
export const conflictsIn = ({ conflicts }: { conflicts: readonly FormError[] }): string[] =>
  conflicts.flatMap(({ path }) => path);
