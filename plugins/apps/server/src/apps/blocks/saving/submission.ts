import { type Items, itemOf, type Json } from '../../../../../shared/json';
import { memoized } from '../../../common/collections';
import { shortWork } from '../../../common/time/pace';
import type { StoredFile, TemporaryFile } from '../../../files';
import {
  entryElements,
  type FileSources,
  type FormFields,
  fileFields,
  isShown,
  NO_ENTRIES,
  type ReadForm,
  readInput,
  roleOf,
  sentEntries,
  type WrongField,
} from '../../elements';
import type { Message } from '../../locales';
import { patternWork } from '../../patterns';
import { elementData } from '../../run/element-data';
import { type FormError, FormRefusal } from '../../run/refusals';
import type { Run } from '../../run/types';
import { localeOf } from '../../run/visits';
import type { Block, Definition, ElementDefinition } from '../../types';
import type { BlockSession } from '../block-session';
import { guardProblem, optionsOf } from '../display/form';
import { type Entries, entriesOf, repeatsOf, type SentFields, shownInputs } from '../sent/inputs';
import { type ChangedRecord, changeOf, conflictErrors, conflictsIn } from './save-record';

/** A read submission of a block's form. */
export interface Submission extends Entries {
  /** Values to store, of the valid fields. */
  items: Items;
  /** Files of the record, to be put into the media library when it is saved. */
  files: readonly (StoredFile | TemporaryFile)[];
  /** Inputs whose condition is not met, also of those that are not read. */
  hidden: ReadonlySet<string>;
  /** Messages about fields that the sender and somebody else have changed. */
  conflicts: readonly FormError[];
}

/** Fields to be read, with what they are read for. */
export interface SubmittedFields {
  fields: FormFields;
  /** Whether an input is among those that are read: for a form, whether its layout shows it. */
  shows: (name: string) => boolean;
  /**
   * Values that inputs which are not read will have: readonly ones of a new record, and what logic sets. Asked for where a condition
   * needs them.
   */
  unread: () => Promise<Items>;
  /** Where files come from; without it, elements of files are not read, nor groups that have some. */
  sources?: FileSources;
  /** Inputs whose JSON values are of another type, and all items that were sent. */
  wrong?: SentFields['wrong'];
  items?: SentFields['items'];
  /** The record that a form changes: of fields that its sender has left alone the stored values stay. */
  before?: ChangedRecord;
}

/**
 * Reads and checks every input that the block's layout shows (docs/reference/definitions.md#submitted-fields): a form
 * stores only those, and a form that shows some of a block's fields keeps the others of the record. An input that is
 * shown and was not sent is empty, because a browser does not send an unchecked box. One whose condition is not met is
 * neither checked nor stored. Computed inputs are not read from the form.
 */
export async function readSubmission(
  run: Run,
  block: Block,
  session: BlockSession,
  { fields, shows, unread, sources, wrong: ofOtherType, items: given = {}, before }: SubmittedFields,
): Promise<Submission> {
  const inputs = shownInputs(block, shows);
  const fixed = await unreadFor(block, unread);
  const options = await optionsOf(session, [...inputs, ...inputs.flatMap(entryElements)]);
  const sent = await shortWork(() => sentEntries(block.definition, fields));
  const entered = await shortWork(() => entriesOf(inputs, fields, sent));
  const locale = await localeOf(run);
  const wrong = new Map<string, Message | readonly WrongField[]>();
  const items: Items = {};
  const files: (StoredFile | TemporaryFile)[] = [];
  const stored = before?.items ?? sources?.items ?? {};
  const hidden = new Set<string>();
  const changedByBoth: ElementDefinition[] = [];
  /** The value that the record will have; of a wrong field what was entered, or sent as JSON. */
  const valueFor = (name: string): Json => {
    if (hidden.has(name)) return null;
    if (ofOtherType?.has(name)) return itemOf(given, name);
    const known = [items, fixed, stored].find((one) => Object.hasOwn(one, name));
    return wrong.has(name) ? [...(entered.get(name) ?? [])] : (known?.[name] ?? null);
  };
  const form: ReadForm = {
    data: elementData(run),
    options,
    work: patternWork(),
    region: locale,
    files: sources ?? NO_FILES,
    take: (found) => files.push(...found),
  };
  const ofFiles = new Set([...fileFields(block.definition).keys()].map((field) => field.split(':', 1)[0]));
  const read = new Set(inputs);
  for (const element of block.definition.elements.values()) {
    const { name } = element;
    const isRead = read.has(element);
    if (!isRead && !element.readonly) continue;
    if (!(await shortWork(() => isShown(element, valueFor)))) {
      hidden.add(name);
      if (isRead && Object.hasOwn(stored, name)) items[name] = null;
      continue;
    }
    if (!isRead) continue;
    if (ofOtherType?.has(name)) {
      wrong.set(name, ofOtherType.get(name) ?? []);
      continue;
    }
    // Without files, the record keeps what it has.
    if (!sources && ofFiles.has(name)) continue;
    const own = { submitted: entered.get(name) ?? [], entries: sent.get(name) ?? NO_ENTRIES };
    const change = before && (await shortWork(() => changeOf(element, { ...own, before, region: locale })));
    if (change === 'theirs') continue;
    if (change === 'both') changedByBoth.push(element);
    const known = Object.hasOwn(stored, name) ? itemOf(stored, name) : undefined;
    // Entries that somebody else has changed are not those that the form has shown.
    const shown = before && !(change === 'both' && element.kind.fields) ? known : undefined;
    const request = { ...form, field: name, entries: own.entries, stored: known, shown };
    const result = await readInput(element, own.submitted, request);
    if (!result) continue;
    if ('error' in result) wrong.set(name, result.error);
    else if ('wrong' in result) wrong.set(name, result.wrong);
    else if (change !== 'none' || !Object.hasOwn(stored, name)) items[name] = result.value;
  }
  const all = [...wrong].flatMap(([name, found]) => ('key' in found ? [{ path: [name], message: found }] : found));
  const errors = all.map(({ path, message: { key, values } }) => ({ path, message: locale.say(key, values) }));
  const conflicts = await conflictErrors(run, changedByBoth, stored, options);
  return { entered, repeats: repeatsOf(inputs, sent), items, errors, files, hidden, conflicts };
}

/**
 * Reads fields and runs the block's `validate`, which may refuse them too (docs/reference/logic.md#own-validation). Throws a
 * FormRefusal with all messages. What `validate` throws fails the request only if the fields themselves are right.
 * @param tolerated whether a message about the fields is left out
 */
export async function checkSubmission(
  run: Run,
  block: Block,
  session: BlockSession,
  submitted: SubmittedFields,
  tolerated: (errors: Submission['errors']) => Promise<(error: FormError) => boolean> = async () => () => false,
): Promise<Submission> {
  const submission = await readSubmission(run, block, session, submitted);
  const isTolerated = submission.errors.length > 0 ? await tolerated(submission.errors) : () => false;
  const wrong = submission.errors.filter((error) => !isTolerated(error));
  const validate = wrong.length > 0 ? session.tryAll : session.run;
  await validate(['validate'], true);
  const { fields } = submitted;
  const automatic = Object.hasOwn(fields, '_save') ? guardProblem(run, block, fields) : null;
  const { say } = await localeOf(run);
  const ofForm = automatic === null ? [] : [{ path: [], message: say(automatic.key) }];
  const errors = [...ofForm, ...submission.conflicts, ...wrong, ...run.refusals.errors];
  if (errors.length > 0) throw new FormRefusal(errors, run.budget, conflictsIn(submission));
  return submission;
}

const NO_FILES: FileSources = { files: undefined, items: undefined };

/** The values of inputs that are not read, where a condition needs them. */
export const unreadFor = async ({ definition }: Block, unread: SubmittedFields['unread']): Promise<Items> =>
  dependsOnFixed(definition) ? unread() : {};

/** Whether a condition is about an input that no form sets, or is that of one. */
const dependsOnFixed = memoized(({ elements }: Definition): boolean =>
  [...elements.values()].some(({ showIf, readonly }) => {
    const isFixed = (name: string) => elements.get(name)?.readonly === true || elements.get(name)?.mode !== undefined;
    return showIf !== undefined && (readonly === true || Object.keys(showIf).some(isFixed));
  }),
);

/** Values of the shown inputs that a visitor cannot change, for a new record: by their function, else their default. */
export async function fixedItems(
  block: Block,
  session: BlockSession,
  shows: (name: string) => boolean,
): Promise<Items> {
  const fixed = [...block.definition.elements.values()].filter(
    (element) => roleOf(element) === 'input' && element.readonly && !element.mode && shows(element.name),
  );
  const values = await session.run(fixed.map(({ name }) => name));
  return Object.fromEntries(fixed.map(({ name, default: given }) => [name, values.get(name) ?? given ?? null]));
}
