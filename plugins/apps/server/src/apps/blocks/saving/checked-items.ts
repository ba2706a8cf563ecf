import { type Items, itemOf, type Json } from '../../../../../shared/json';
import { lazily } from '../../../common/collections';
import { expectWork } from '../../../common/time/pace';
import type { StoredFile } from '../../../files';
import { SERVER_ITEMS, STATE } from '../../../indexes';
import type { StoredRecord } from '../../../records/types';
import { filesNamed, roleOf } from '../../elements';
import type { ServiceMessage } from '../../locales';
import { shownRecord } from '../../run/files';
import { type FormError, FormRefusal } from '../../run/refusals';
import { keyOf } from '../../run/run';
import type { Run } from '../../run/types';
import { localeOf, refusal } from '../../run/visits';
import type { Block } from '../../types';
import type { BlockSession } from '../block-session';
import { shownElements } from '../group';
import { entryMarks, fieldsOfItems, formOfJson, type SentFields, shownInputs } from '../sent/inputs';
import { checkSubmission, fixedItems, readSubmission, type Submission } from './submission';

/** What is taken of the items that come by a way; a way has one of a few senders. */
export interface Sender {
  /** Inputs that are read and checked: those that the layout of the block shows, or all that it declares. */
  readonly inputs: 'shown' | 'declared';
  /**
   * Items that the block does not declare as inputs, and those that the server sets: never read; left out, and refused in a
   * strict app; or taken.
   */
  readonly others: 'ignored' | 'refused' | 'taken';
  /** Files that items may have: sent with the form, of the app in the media library, or any. */
  readonly files: 'sent' | 'own' | 'any';
  /** Whether anonymous passes the guard of public forms: always, in a strict app, or never. */
  readonly guard: 'always' | 'strict' | 'never';
  /** Whether the mail of `notify` is sent. */
  readonly notifies: boolean;
}

/** Who sends items (docs/reference/rules.md). */
export const senders = {
  /** A browser, with a form that the server has shown. */
  form: { inputs: 'shown', others: 'ignored', files: 'sent', guard: 'always', notifies: true },
  /** A client that sends a form as JSON. */
  jsonForm: { inputs: 'shown', others: 'refused', files: 'own', guard: 'strict', notifies: true },
  /** A client that sends a record's items; an import. */
  client: { inputs: 'declared', others: 'refused', files: 'own', guard: 'never', notifies: false },
  /** Logic of the app, whose author has written the rules too. */
  logic: { inputs: 'declared', others: 'taken', files: 'any', guard: 'never', notifies: false },
} as const satisfies Record<string, Sender>;

/** A way by which items of a record come to the server. */
export interface Way {
  /** For readers: what is sent, or called. */
  readonly title: string;
  readonly sender: keyof typeof senders;
  /**
   * The right that the requester needs; `link`: the signed link of the record is the right to change it, whatever `acl` and
   * `view_permission` say; null: the author of the app or the operator of the host sends it.
   */
  readonly right: 'create' | 'edit' | 'link' | null;
  /** Whether it is of the JSON interface, which `json` in settings.yaml can close. */
  readonly json: boolean;
}

/** All ways. Each has its requests in tests/rules. */
export const ways = {
  form: { title: 'the form of a block', sender: 'form', right: 'create', json: false },
  recordForm: { title: 'the form of a record', sender: 'form', right: 'edit', json: false },
  jsonForm: { title: '`POST <app>/blocks/<block>` with JSON', sender: 'jsonForm', right: 'create', json: false },
  draftForm: { title: 'the form of a draft', sender: 'form', right: 'create', json: false },
  draftJson: { title: '`POST <app>/draft/<token>` with JSON', sender: 'jsonForm', right: 'create', json: false },
  ownForm: { title: 'the form of an own record, by its link', sender: 'form', right: 'link', json: false },
  ownPatch: { title: '`PATCH <app>/mine/<token>`', sender: 'jsonForm', right: 'link', json: false },
  create: { title: '`POST <app>`', sender: 'client', right: 'create', json: true },
  createById: { title: '`PUT <app>/record/<id>`', sender: 'client', right: 'create', json: true },
  patch: { title: '`PATCH <app>/record/<id>`', sender: 'client', right: 'edit', json: true },
  post: { title: '`POST <app>/record/<id>`', sender: 'client', right: 'edit', json: true },
  bulk: { title: '`POST <app>/records`', sender: 'client', right: 'create', json: true },
  ndjson: { title: '`POST <app>/records` with NDJSON', sender: 'client', right: 'create', json: true },
  panelForm: { title: "a block's form in the panel", sender: 'form', right: 'create', json: false },
  panelCreate: { title: 'a new record in the panel', sender: 'client', right: 'create', json: false },
  panelUpdate: { title: "a record's items in the panel", sender: 'client', right: 'edit', json: false },
  panelImport: { title: 'an import in the panel', sender: 'client', right: 'create', json: false },
  commandImport: { title: '`import` of the command line', sender: 'client', right: null, json: false },
  save: { title: '`record.save()` of logic', sender: 'logic', right: null, json: false },
  event: { title: '`record.save()` by a rule on events', sender: 'logic', right: null, json: false },
  call: { title: '`record.save()` by a call from code', sender: 'logic', right: null, json: false },
} as const satisfies Record<string, Way>;

export type WayName = keyof typeof ways;

/** Milliseconds that a check takes about, for each item and each element. */
const CHECK_TIME = 0.02;

/** Names of items that no rule of a block is about. */
const OWN = new Set(['id', 'block']);

/** The items of a block that the server sets: computed ones, and inputs that a form only shows. */
export const serverItems = ({ definition }: Block): ReadonlySet<string> =>
  new Set([...definition.elements.values()].filter(({ mode, readonly }) => mode || readonly).map(({ name }) => name));

/**
 * What a client may send of a record's items, by their names (docs/reference/rights.md#strict-apps). In a strict app a
 * FormRefusal names each item that its block does not declare as an input, or that the server sets. In others such an item of
 * the server is left out: its value is the server's there too, and a record that was read can be sent again.
 * @param block of the record after the change; null without one
 * @param record before the change; null for a new one
 * @returns the names that are left out
 */
export async function sentNames(
  run: Run,
  block: Block | null,
  names: readonly string[],
  record: StoredRecord | null,
): Promise<ReadonlySet<string>> {
  const before = record?.items.block ?? null;
  const leaves = before !== null && names.includes('block') && before !== block?.id;
  await refuseState(run, block, names);
  const { strict } = run.app.settings;
  if (leaves && !strict) requireLeaving(run, String(before));
  const ofServer = block ? serverItems(block) : new Set<string>();
  if (!strict) return ofServer;
  const problems = block ? strictProblems(block, names, ofServer) : new Map<string, ServiceMessage>();
  if (leaves) problems.set('block', 'block_kept');
  // A record of a block that the theme no longer has stays manageable.
  else if (!block && before === null) problems.set('block', 'block_missing');
  if (problems.size === 0) return ofServer;
  const { say } = await localeOf(run);
  throw new FormRefusal([...problems].map(([name, key]) => ({ path: [name], message: say(key) })));
}

/** 422 where a client sends the item by which the server says who waits for a place of a block. */
async function refuseState(run: Run, block: Block | null, names: readonly string[]): Promise<void> {
  const { places, receipt } = block?.definition ?? {};
  const name = SERVER_ITEMS.find((one) => names.includes(one));
  if (name === undefined || !(places || receipt?.confirm)) return;
  const { say } = await localeOf(run);
  throw new FormRefusal([{ path: [name], message: say('server_item') }]);
}

function strictProblems(
  { definition }: Block,
  names: readonly string[],
  ofServer: ReadonlySet<string>,
): Map<string, ServiceMessage> {
  const problems = new Map<string, ServiceMessage>();
  for (const name of names) {
    if (ofServer.has(name)) problems.set(name, 'server_item');
    else if (name === 'state' && definition.states) continue;
    else if (!OWN.has(name) && roleOf(definition.elements.get(name)) !== 'input') problems.set(name, 'unknown_item');
  }
  return problems;
}

/** Only those who may change every record may take one out of its block, whose rules would no longer hold for it. */
function requireLeaving(run: Run, block: string): void {
  if (!run.rights.edit(null)) throw refusal(run.visit.requester, `take this record out of the block "${block}"`);
}

/** A change of the items of a record of a block that did not come by its form. */
interface ItemChange {
  /** The record before the change; null for a new one. */
  record: StoredRecord | null;
  /** All items after the change. */
  items: Items;
  /** Names of the items that the change sets; others may be wrong already. */
  changed: ReadonlySet<string>;
  /** Whether inputs that the sender cannot set get their values: the record is new to its block. */
  creation: boolean;
  sender: 'client' | 'logic';
  /** `context.request.body` of the block's functions. */
  body: Json;
}

/**
 * Checks the items of a record of a block as its form would be checked: types and rules of the fields, conditions,
 * references, files, `validate` (docs/reference/rules.md). All inputs of the block count, whatever its
 * layout shows. A FormRefusal with all messages.
 * @returns the items to set: the changed ones as their inputs store them, and those whose condition is no longer met
 */
export async function checkedItems(run: Run, block: Block, session: BlockSession, change: ItemChange): Promise<Items> {
  const { record, items, changed, creation, body } = change;
  await expectWork(CHECK_TIME * (Object.keys(items).length + block.definition.elements.size));
  const named = await filesOf(run, block, { items, had: record?.items, files: senders[change.sender].files });
  const sources = { files: undefined, items: record?.items, named };
  const sent = fieldsOfItems(block, items, sources);
  await session.setRecord(record);
  session.setSent(sent.fields as Items, body);
  const inputs = new Set(shownInputs(block, () => true).map(({ name }) => name));
  const fixed = lazily(async () => (creation ? fixedItems(block, session, () => true) : {}));
  const unread = async () => ({ ...(await fixed()), ...withoutNames(items, inputs) });
  const submitted = { ...sent, shows: () => true, unread, sources };
  const submission = await checkSubmission(run, block, session, submitted, (errors) =>
    wrongBefore(run, block, session, errors, { record, changed }),
  );
  const { hidden } = submission;
  // In the order in which they were sent.
  const set = Object.entries(items).flatMap(([name, value]): [string, Json][] => {
    if (!inputs.has(name)) return changed.has(name) ? [[name, value]] : [];
    if (!changed.has(name) && !hidden.has(name)) return [];
    return Object.hasOwn(submission.items, name) ? [[name, itemOf(submission.items, name)]] : [];
  });
  return { ...withoutNames(await fixed(), hidden), ...Object.fromEntries(set) };
}

/**
 * Files that the items may name, by document id: those that the record has, in any field, and others; of a client those of the app.
 * @param given.had items of the record before
 */
async function filesOf(
  run: Run,
  block: Block,
  { items, had = {}, files }: { items: Items; had?: Items | undefined; files: Sender['files'] },
): Promise<ReadonlyMap<string, StoredFile>> {
  const own = byDocument(filesNamed(block, had));
  const others = filesNamed(block, items).filter(({ documentId }) => !own.has(documentId));
  const named = files === 'any' ? byDocument(others) : await ownFiles(run, others);
  return new Map([...own, ...named]);
}

/**
 * Those of the files that forms of the app have put into the media library, by document id. None for a requester who does not see
 * every record: a file may be of a record that they must not see.
 */
async function ownFiles(run: Run, files: readonly StoredFile[]): Promise<ReadonlyMap<string, StoredFile>> {
  const named = byDocument(run.rights.viewAll ? files : []);
  if (named.size === 0) return named;
  const found = await run.unit.alongside(() => run.services.files.known(keyOf(run), [...named.keys()]));
  // A size that rounds to the library's is the exact one.
  return byDocument(found.map((file) => ({ ...file, size: sizeOf(file, named.get(file.documentId)) })));
}

const byDocument = (files: readonly StoredFile[]) => new Map(files.map((file) => [file.documentId, file]));

const sizeOf = ({ size }: StoredFile, given: StoredFile | undefined): number =>
  given && Math.abs(given.size - size) <= 5 ? given.size : size;

/**
 * Whether a message is about an item that the change does not set, and that was wrong before it: a record that was stored
 * under other rules can still be changed. Nothing is tolerated where the record comes into the block.
 */
async function wrongBefore(
  run: Run,
  block: Block,
  session: BlockSession,
  errors: Submission['errors'],
  { record, changed }: Pick<ItemChange, 'record' | 'changed'>,
): Promise<(error: FormError) => boolean> {
  const isUnchanged = ({ path: [name = ''] }: FormError) => !changed.has(name);
  if (itemOf(record?.items ?? {}, 'block') !== block.id || !record || !errors.some(isUnchanged)) return () => false;
  const sources = { files: undefined, items: record.items };
  const before = fieldsOfItems(block, record.items, sources);
  const { errors: known } = await readSubmission(run, block, session, {
    ...before,
    shows: () => true,
    unread: async () => record.items,
    sources,
  });
  const names = new Set(known.map(({ path }) => JSON.stringify(path)));
  return (error) => isUnchanged(error) && names.has(JSON.stringify(error.path));
}

/** Values by name, without some names. */
export const withoutNames = <T>(values: Readonly<Record<string, T>>, names: ReadonlySet<string>): Record<string, T> =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !names.has(name)));

/** A block's form that was sent as JSON. */
export interface JsonForm {
  /** The run in which `context.request.form` has what a browser would have sent. */
  run: Run;
  form: SentFields;
}

/**
 * Reads a block's form that was sent as JSON (docs/reference/layouts.md#posting-a-form). In a strict app a FormRefusal names each
 * key that is no field of the form: nothing that a client sends is ignored.
 * @param sent what the client has sent
 * @param record the record that the form changes; null for a new one
 * @param unnamed values of the fields that the client has not sent. One that no JSON form could send is kept.
 */
export async function readJsonForm(
  run: Run,
  block: Block,
  sent: Items,
  record: StoredRecord | null,
  unnamed: Items = {},
): Promise<JsonForm> {
  const shows = shownElements(run, block);
  const body = { ...unnamed, ...sent };
  // The buttons of its states have the name of the item.
  const keys = Object.keys(body).filter((name) => name !== STATE || !block.definition.states);
  await refuseState(run, block, keys);
  const { strict } = run.app.settings;
  if (strict) await requireFields(run, block, body, shows);
  // Files that the form does not show are not the sender's to move.
  const unseen = Object.keys(record?.items ?? {}).filter((name) => !shows(name));
  const had = withoutNames(record?.items ?? {}, new Set(unseen));
  const named = await filesOf(run, block, { items: body, had, files: senders.jsonForm.files });
  const marks = entryMarks(block, withoutNames(unnamed, new Set(Object.keys(sent))));
  const { form, fields, wrong, ...read } = formOfJson(block, body, shows, { strict, named, items: record?.items });
  const isSent = (name: string) => Object.hasOwn(sent, name);
  const refused = new Map([...wrong].filter(([name]) => isSent(name)));
  const kept = new Set([...wrong.keys()].filter((name) => !isSent(name)));
  return {
    run: { ...run, visit: run.visit.withForm({ ...form, ...marks }) },
    form: { ...read, fields: { ...fields, ...marks }, wrong: refused, kept },
  };
}

/** Buttons and hidden fields of a form, which its logic may read. */
const isOfForm = (name: string) => name.startsWith('_') || name.startsWith('action.');

async function requireFields(run: Run, block: Block, body: Items, shows: (name: string) => boolean): Promise<void> {
  const fields = new Set(shownInputs(block, shows).map(({ name }) => name));
  const ofServer = serverItems(block);
  // Before a colon: a repeated group of an entry's field, a reference whose targets are looked for.
  const isOfField = (name: string) => fields.has(name.split(':', 1)[0] ?? '');
  const isKnown = (name: string) => isOfField(name) || isOfForm(name) || (name === 'block' && body.block === block.id);
  const unknown = Object.keys(body).filter((name) => !isKnown(name));
  if (unknown.length === 0) return;
  const { say } = await localeOf(run);
  const problemOf = (name: string): ServiceMessage => (ofServer.has(name) ? 'server_item' : 'unknown_item');
  throw new FormRefusal(unknown.map((name) => ({ path: [name], message: say(problemOf(name)) })));
}

/**
 * The items of a record that its block shows, with its id, for who has made it: other items may be notes of others.
 * @param which `entered`: only those of inputs that its form can change
 */
export async function ownItems(
  run: Run,
  block: Block,
  record: StoredRecord,
  which: 'shown' | 'entered' = 'shown',
): Promise<Items> {
  const shows = shownElements(run, block);
  const { items, id } = await shownRecord(run, record);
  const all =
    which === 'entered'
      ? shownInputs(block, shows)
      : [...block.definition.elements.values()].filter(({ name }) => shows(name));
  const shown = all.flatMap(({ name }) => (Object.hasOwn(items, name) ? [[name, itemOf(items, name)] as const] : []));
  return { ...Object.fromEntries(shown), ...(which === 'shown' && { id }) };
}
