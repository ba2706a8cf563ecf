import type { Items } from '../../../../../shared/json';
import { memoized } from '../../../common/collections';
import { shortWork } from '../../../common/time/pace';
import type { Draft } from '../../../links/types';
import type { StoredRecord } from '../../../records/types';
import {
  changedEntries,
  type FileSources,
  type FilesAgain,
  type FormFields,
  fieldsAgain,
  filesAgain,
  lostFiles,
  pressedButton,
  pressedSearch,
  type ShownEntry,
  searchesIn,
  sentEntries,
  textsOf,
  withoutOrigin,
} from '../../elements';
import { shownRecord } from '../../run/files';
import { continuedDraft, mayChange } from '../../run/own-link';
import type { FormRefusal } from '../../run/refusals';
import type { Run } from '../../run/types';
import { localeOf } from '../../run/visits';
import type { Block, Definition } from '../../types';
import { shownElements } from '../group';
import { fieldsOfDraft, readDraftContent, readEntered } from '../sent/draft-content';
import { type Entries, enteredIn, type FormVersion, sentDigest, versionIn } from '../sent/inputs';
import { absentElements, isPageMove, pageState, pagesOf } from '../sent/pages';
import type { DisplayOptions } from './element-contents';
import { DRAFT_EMAIL, type DraftEntry, type ShownDraft } from './form';

/** What the form of a block shows of the draft that the request continues, and all that was entered in it; undefined where it continues none. */
export function shownDraft(run: Run, block: Block): { draft: ShownDraft; entries: readonly DraftEntry[] } | undefined {
  const open = continuedDraft(run, block);
  if (!open) return undefined;
  const { address, draft } = open;
  const { entries, lost } = readDraftContent(block, draft.content, shownElements(run, block));
  return { draft: { address, endsAt: draft.endsAt, lost }, entries };
}

/**
 * Where the files of a form come from: the request, its record, its draft. Another stored file is refused in a form that may be kept as a draft:
 * the draft may have lost it on another device, and to leave it out would lose it unnoticed.
 * @param others further stored files that the form may name
 */
export function formSources(
  run: Run,
  block: Block,
  record: Pick<StoredRecord, 'items'> | null,
  others?: FileSources['named'],
): FileSources {
  const open = continuedDraft(run, block);
  const own = open?.draft.content.files ?? [];
  return {
    files: run.visit.files,
    items: record?.items,
    named: new Map([...own.map((file) => [file.documentId, file] as const), ...(others ?? [])]),
    isStrict: record === null && (block.definition.drafts || open !== null),
  };
}

/** Whether a button was pressed that only shows the form again: of its pages, or of a repeated group. */
export const onlyShows = (block: Block, fields: FormFields): boolean =>
  isPageMove(fields) ||
  pressedButton(block.definition, fields) !== null ||
  pressedSearch(block.definition, fields) !== undefined;

/**
 * A posted form that is shown again, with what was entered. A record is shown for reading again where its form was not
 * sent, but a button beside its text, and to those who may not change it.
 * @param keepsFiles false for a JSON client, which gets no form that could name kept files
 * @returns with messages of its own beside fields whose files could not be kept
 */
export async function shownAgain(
  run: Run,
  block: Block,
  stored: StoredRecord | null,
  fields: FormFields,
  { errors, conflicts = [] }: Pick<FormRefusal, 'errors'> & Partial<Pick<FormRefusal, 'conflicts'>> = { errors: [] },
  keepsFiles = true,
): Promise<DisplayOptions> {
  const record = await shownRecord(run, stored);
  const shows = shownElements(run, block);
  const pages = pagesOf(block, shows);
  const known = record && versionIn(fields, record);
  const sent = await shortWork(() => enteredIn(block, fields, shows, pages));
  // On pages that are not shown, fields are sent again as they were sent.
  const entered =
    sent && known && pages.length === 0 ? await shortWork(() => changedFields(block, fields, sent, known)) : sent;
  const version = known && withoutConflicts(known, conflicts);
  const moves = onlyShows(block, fields);
  const searches = searchesIn(block.definition, fields);
  const isSent = entered !== null || moves || Object.hasOwn(fields, '_save');
  const isForm = record === null || (isSent && mayChange(run, 'edit', record));
  const entries: Entries | undefined =
    entered || moves || errors.length > 0
      ? withChange(block, fields, { ...withoutOrigins(entered, conflicts), ...searches, errors })
      : undefined;
  const shown = { ...(record === null && draftShown(run, block, fields)), ...(entries && { submission: entries }) };
  if (!isForm || !isSent) return { record, mode: isForm ? 'input' : 'text', ...shown };
  const sources = { ...formSources(run, block, record), ...(!keepsFiles && { files: undefined }) };
  const shownFiles = await filesAgain(block, fields, sources);
  const usual = record?.items ?? defaultsOf(block.definition);
  const isPaged = entries && pages.length > 0;
  const absent = isPaged ? await shortWork(() => absentElements(block.definition, entries.entered, usual)) : undefined;
  const submission = entries && keepsFiles ? await withLostFiles(run, block, entries, shownFiles, absent) : entries;
  return {
    record,
    mode: 'input',
    ...shown,
    shownFiles,
    ...(submission && { submission }),
    ...(pages.length > 0 && { sent: fieldsAgain(block, fields, shownFiles) }),
    ...(version && { version }),
    ...(record === null && { entries: readEntered(block, fields, shows, shownFiles) }),
  };
}

/** What belongs to drafts in a form that is shown again; what does not fit is said only where a draft is opened. */
function draftShown(run: Run, block: Block, fields: FormFields): Pick<DisplayOptions, 'draft' | 'draftEmail'> {
  const open = shownDraft(run, block);
  const email = textsOf(Object.hasOwn(fields, DRAFT_EMAIL) ? fields[DRAFT_EMAIL] : undefined).at(-1) ?? '';
  return { ...(open && { draft: { ...open.draft, lost: [] } }), ...(email !== '' && { draftEmail: email }) };
}

/**
 * The form of the draft that the request continues, at its page. Inputs that the definition has got since have their usual values.
 */
export async function continuedForm(run: Run, block: Block, { content }: Draft): Promise<DisplayOptions> {
  const shows = shownElements(run, block);
  const options = await shownAgain(run, block, null, fieldsOfDraft(block, content, pagesOf(block, shows)));
  const open = shownDraft(run, block);
  const { submission } = options;
  const isKnown = ([name]: readonly [string, unknown]) => Object.hasOwn(content.inputs, name);
  return {
    ...options,
    ...open,
    ...(submission && {
      submission: {
        ...submission,
        entered: new Map([...submission.entered].filter(isKnown)),
        repeats: new Map([...submission.repeats].filter(isKnown)),
      },
    }),
  };
}

type Sent = Pick<Entries, 'entered' | 'repeats'>;

/** What was changed in the form of a record; other fields show what is stored now. */
function changedFields(
  { definition }: Block,
  fields: FormFields,
  { entered, repeats }: Sent,
  known: FormVersion,
): Sent {
  const sent = sentEntries(definition, fields);
  const isChanged = ([name]: readonly [string, unknown]) => {
    const element = definition.elements.get(name);
    const shown = known.digests.get(name);
    return !element || shown === undefined || shown !== sentDigest(element, entered.get(name) ?? [], sent.get(name));
  };
  return { entered: new Map([...entered].filter(isChanged)), repeats: new Map([...repeats].filter(isChanged)) };
}

/** The sender of a form has seen what is stored now of the fields that are in conflict. */
const withoutConflicts = ({ tag, digests }: FormVersion, conflicts: readonly string[]): FormVersion => ({
  tag,
  digests: new Map([...digests].filter(([name]) => !conflicts.includes(name))),
});

/** Entries of a group that somebody else has changed are no longer those at the same positions. */
function withoutOrigins(sent: Sent | null, conflicts: readonly string[]): Sent {
  if (!sent) return { entered: new Map(), repeats: new Map() };
  const isStale = (name: string) => conflicts.includes(name);
  const repeats = [...sent.repeats].map(([name, entries]): [string, readonly ShownEntry[]] => [
    name,
    isStale(name) ? entries.map(withoutOrigin) : entries,
  ]);
  return { ...sent, repeats: new Map(repeats) };
}

/**
 * What is shown again, with a message beside each field whose files it does not have: else they would be missing unnoticed.
 * @param absent elements of pages that are not shown
 */
async function withLostFiles(
  run: Run,
  block: Block,
  entries: Entries,
  again: FilesAgain,
  absent: ReadonlySet<string> = new Set(),
): Promise<Entries> {
  const known = new Set(entries.errors.map(({ path }) => path.join(':')));
  const isNew = ({ path }: { path: string[] }) => !known.has(path.join(':')) && !absent.has(path[0] ?? '');
  const lost = lostFiles(block, entries, again).filter(isNew);
  if (lost.length === 0) return entries;
  const { say } = await localeOf(run);
  const messages = lost.map(({ path, message: { key, values } }) => ({ path, message: say(key, values) }));
  return { ...entries, errors: [...entries.errors, ...messages] };
}

const defaultsOf = memoized(
  ({ elements }: Definition): Items =>
    Object.fromEntries([...elements.values()].map(({ name, default: given }) => [name, given ?? null])),
);

/**
 * Whether a form is not saved yet, because a page shows that the visitor has not seen.
 * @param itemsFor values that the record will have of inputs which the form does not send
 */
export async function hasUnseenPage(
  run: Run,
  block: Block,
  fields: FormFields,
  itemsFor: () => Promise<Items>,
): Promise<boolean> {
  const shows = shownElements(run, block);
  const pages = pagesOf(block, shows);
  if (pages.length === 0) return false;
  const entered = enteredIn(block, fields, shows, pages)?.entered ?? new Map<string, string[]>();
  const items = await itemsFor();
  return (await shortWork(() => pageState(block.definition, pages, fields, { entered, errors: [] }, items))).moved;
}

/** What is shown again, after the pressed button of a repeated group. */
function withChange({ definition }: Block, fields: FormFields, entries: Entries): Entries {
  const change = pressedButton(definition, fields);
  const sent = change && sentEntries(definition, fields).get(change.element.name);
  if (!change || !sent) return entries;
  const { name } = change.element;
  const changed = changedEntries(sent, change);
  const entered = new Map([...entries.entered, [name, entries.entered.get(name) ?? []]]);
  const repeats = new Map([...entries.repeats, [name, changed.entries]]);
  return { ...entries, entered, repeats, focus: { element: name, position: changed.focus } };
}
