import { type Items, itemOf, type Json } from '../../../../../shared/json';
import { lazily } from '../../../common/collections';
import { didYouMean } from '../../../common/text';
import { type Awaitable, isPromise } from '../../../common/time/awaitable';
import { shortWork } from '../../../common/time/pace';
import type { LayoutData } from '../../../layouts/types';
import type { LogicOutcome } from '../../../logic/types';
import {
  attributes,
  builtInActions,
  type ElementView,
  escapeHtml,
  type FilesAgain,
  type FormFields,
  formFiles,
  isOfFiles,
  isShown,
  membersOf,
  PAGES,
  plainText,
  roleOf,
  type ShowContext,
} from '../../elements';
import type { Shown } from '../../run/context-data';
import { errorMark, notice, noticeMark } from '../../run/diagnostics/failures';
import { elementData } from '../../run/element-data';
import { linkOfRecord, mayChange } from '../../run/own-link';
import { labelOf, mayMove, STATE_BUTTONS, stateOf, waysFrom } from '../../run/places/record-states';
import type { Run } from '../../run/types';
import { localeOf } from '../../run/visits';
import type { Block, ElementDefinition, States } from '../../types';
import type { BlockSession } from '../block-session';
import { groupHtml, shownElements } from '../group';
import type { Entries, FormVersion } from '../sent/inputs';
import { conditionInputs, firstPage, namesOn, type PageState, pageState, pagesOf } from '../sent/pages';
import {
  DRAFT_EMAIL,
  type DraftEntry,
  draftEmailHtml,
  formActionOf,
  hasOptions,
  idPrefix,
  isSaveDisabled,
  optionsOf,
  type ShownDraft,
  withPlaces,
} from './form';
import { type FormMessages, pagesContent } from './form-pages';

/** What a block shows: a new record's form, a record for reading, or a record's form. */
export interface DisplayOptions extends Shown {
  /** What was entered and its errors, shown again in the fields. */
  submission?: Entries;
  /** Files of the submission. */
  shownFiles?: FilesAgain;
  /** The version that the form of a record has shown, for the fields that show again what was entered. */
  version?: FormVersion;
  /** A form with pages as it was sent; absent where it was not sent yet. */
  sent?: FormFields;
  /** The draft that the form continues. */
  draft?: ShownDraft;
  /** What was entered, for reading where the form is not shown because its block is closed. */
  entries?: readonly DraftEntry[];
  /** What was entered in the field of DRAFT_EMAIL. */
  draftEmail?: string;
}

/** The elements of a block: their HTML, and their values. */
export interface ElementContents {
  element: LayoutData['element'];
  /** What is stored, or else computed or the default; undefined for an element that is not declared. */
  value(name: string): Promise<Json | undefined>;
  /** The value that an input has before anything is entered: as the record has it, or as the form of a new one shows it. */
  usual(name: string): Promise<Json>;
  /** Where the visitor is in a form with pages; undefined for another one, and for a record for reading. */
  paged(): Promise<PageState | undefined>;
}

type Content = Awaited<ReturnType<LayoutData['element']>>;

/**
 * The content of each element of a block. Elements placed in the layout are computed together, in the layout's order;
 * others on demand. A function that fails leaves an error mark (docs/reference/logic.md#functions).
 * @param messages of wrong fields; those that an element shows are marked as shown
 */
export async function elementContents(
  run: Run,
  block: Block,
  session: BlockSession,
  options: DisplayOptions,
  placed: readonly string[],
  messages?: FormMessages,
): Promise<ElementContents> {
  const { elements } = block.definition;
  const shows = shownElements(run, block);
  const pages = pagesOf(block, shows);
  const onPages = new Set(pages.flatMap((page) => namesOn(block.definition, page)));
  const declared = placed.flatMap((name) => elements.get(name) ?? []);
  const computed = await session.tryAll(declared.filter((e) => needsFunction(e, session, options)).map((e) => e.name));
  const outcomeOf = (
    element: ElementDefinition,
    needed = needsFunction(element, session, options),
  ): Awaitable<LogicOutcome | undefined> => {
    const { name } = element;
    if (computed.has(name) || !needed) return computed.get(name);
    return session.tryAll([name]).then((outcomes) => {
      const outcome = outcomes.get(name);
      if (outcome) computed.set(name, outcome);
      return outcome;
    });
  };

  const context = showContext(run, session, options, messages);
  const contents: ElementContents = {
    async element(name) {
      if (name === PAGES && pages.length > 0)
        return pagesContent(run, block, pages, options, { element: contentFor, paged: contents.paged });
      // Their page has them, and its button to save.
      if (pages.length > 0 && options.mode === 'input' && (onItsPage.has(name) || onPages.has(name)))
        return { html: '' };
      return contentFor(name);
    },
    async value(name) {
      const element = elements.get(name);
      if (!element) return undefined;
      const outcome = await outcomeOf(element);
      return outcome && !outcome.ok ? null : initialValue(element, options, outcome);
    },
    async usual(name) {
      if (options.record) return itemOf(options.record.items, name);
      const element = elements.get(name);
      if (!element || element.mode || !shows(name)) return null;
      const outcome = await outcomeOf(element, session.has(name));
      return outcome && !outcome.ok ? null : initialValue(element, options, outcome);
    },
    paged: lazily(async () => {
      if (pages.length === 0 || options.mode !== 'input') return undefined;
      const { sent, submission = { entered: new Map(), errors: [] } } = options;
      const items: Items = {};
      for (const name of conditionInputs(block.definition))
        if (!submission.entered.has(name)) items[name] = await contents.usual(name);
      return shortWork(() =>
        sent ? pageState(block.definition, pages, sent, submission, items) : firstPage(block.definition, pages, items),
      );
    }),
  };

  /** Whether the form on this page has a control for an input, by which the browser decides conditions. */
  const hasControl = (name: string): boolean => {
    const named = elements.get(name);
    return shows(name) && !named?.mode && !(named?.readonly && pages.length > 0);
  };

  async function contentFor(name: string): Promise<Content> {
    if (name === STATE_BUTTONS && block.definition.states)
      return { html: await stateHtml(run, block.definition.states, options, formActionOf(run, block, options)) };
    const declared = elements.get(name) ?? block.definition.builtIn.get(name);
    if (!declared) return undeclared[name]?.(run, block, options);
    const element = options.mode === 'input' ? await undecided(declared, hasControl, contents.usual) : declared;
    if (!element) return { html: '' };
    if (element.verify) return calledByWebhooks(run, block, element);
    if (roleOf(element) === 'group') return groupOf(element, elements, options, contentFor);
    const asked = outcomeOf(element);
    const outcome = isPromise(asked) ? await asked : asked;
    if (outcome && !outcome.ok) return { html: await errorMark(run, outcome.error), failed: true };
    const content = await contentOf(run, block, element, session, options, outcome, context);
    return lacksFunction(element, session, options) ? withNotice(run, block, element, session, content) : content;
  }
  return contents;
}

/**
 * An element of a form with the conditions that the browser is left to decide: those on inputs without a control are decided here. Null
 * where one of them is not met.
 */
async function undecided(
  element: ElementDefinition,
  hasControl: (name: string) => boolean,
  itemFor: (name: string) => Promise<Json>,
): Promise<ElementDefinition | null> {
  const all = Object.entries(element.showIf ?? {});
  const decided = new Map<string, Json>();
  for (const [name] of all) if (!hasControl(name)) decided.set(name, await itemFor(name));
  if (decided.size === 0) return element;
  const left = all.filter(([name]) => !decided.has(name));
  const here = all.filter(([name]) => decided.has(name));
  if (!isShown({ showIf: Object.fromEntries(here) }, (name) => decided.get(name) ?? null)) return null;
  const { showIf: _, ...rest } = element;
  return left.length > 0 ? { ...rest, showIf: Object.fromEntries(left) } : rest;
}

/** What `{link}` stands for: the address of the record's link; undefined where it has none. */
export const LINK = 'link';

function linkContent(run: Run, { record }: DisplayOptions): Content {
  const address = record && linkOfRecord(run, record);
  return address === null ? undefined : { value: address };
}

/** What layouts can show by names that no element has. */
const undeclared: Record<string, (run: Run, block: Block, options: DisplayOptions) => Promise<Content>> = {
  [LINK]: async (run, _block, options) => linkContent(run, options),
  async [DRAFT_EMAIL](run, block, options) {
    return block.definition.drafts ? { html: await draftEmailHtml(run, block, options) } : undefined;
  },
};

/** Buttons that each page of a form has, or its last one: elsewhere in the layout they are empty. */
const onItsPage: ReadonlySet<string> = new Set(['_save', '_draft']);

/** The content of an element that webhooks call: nothing, and an error mark for requesters who see details. */
async function calledByWebhooks(run: Run, block: Block, { name, type, position }: ElementDefinition): Promise<Content> {
  const message = `the ${type} "${name}" has "verify": webhooks call it, and a page shows nothing of it`;
  notice(run, block, message, position);
  return { html: noticeMark(run, await localeOf(run), message) };
}

/** The content of a group: of all its elements. */
async function groupOf(
  group: ElementDefinition,
  elements: Block['definition']['elements'],
  { mode }: DisplayOptions,
  contents: LayoutData['element'],
): Promise<Content> {
  const members: { definition: ElementDefinition; html: string }[] = [];
  for (const name of membersOf(group)) {
    const [definition, content] = [elements.get(name), await contents(name)];
    if (!definition || !content || !('html' in content)) continue;
    members.push({ definition, html: content.html });
  }
  return { html: groupHtml(group, members, mode) };
}

/** BASIC elements are computed unless their value was stored; inputs compute a default on a new form only. */
function needsFunction(element: ElementDefinition, session: BlockSession, options: DisplayOptions): boolean {
  const role = roleOf(element);
  if (!session.has(element.name) || role === 'action' || element.verify) return false;
  if (role === 'group') return false;
  if (role === 'input')
    return (
      !element.mode && !options.record && (!options.submission?.entered.has(element.name) || element.readonly === true)
    );
  return !isStored(element, options);
}

/** Whether a BASIC or action does nothing, because the logic has no function of its name. */
function lacksFunction(element: ElementDefinition, session: BlockSession, { record }: DisplayOptions): boolean {
  const { name } = element;
  if (session.has(name) || builtInActions.has(name)) return false;
  const role = roleOf(element);
  return role === 'action' || (role === 'html' && !(record && Object.hasOwn(record.items, name)));
}

/** The content, followed by an error mark for requesters who see details. */
async function withNotice(
  run: Run,
  block: Block,
  { name, type, kind, position }: ElementDefinition,
  { functions }: BlockSession,
  content: Content,
): Promise<Content> {
  const lack = lackOf(block, name, functions);
  const message = `the ${type} "${name}" does nothing, for ${lack}${didYouMean(name, [...functions])}`;
  notice(run, block, message, position);
  const mark = noticeMark(run, await localeOf(run), message);
  if (mark === '') return content;
  // The button of an action is still there.
  return { html: `${content && 'html' in content ? content.html : ''}${mark}`, failed: kind.role !== 'action' };
}

/** Why a block has no function, and what to write where it has none at all. */
function lackOf({ logic }: Block, name: string, functions: ReadonlySet<string>): string {
  if (!logic) return 'the block has no logic file';
  const lack = `${logic.path} has no function "${name}"`;
  if (functions.size > 0) return lack;
  const wanted = logic.path.endsWith('.py') ? `def ${name}(context):` : `export function ${name}(context) {}`;
  return `${lack}, nor another one: write ${wanted}`;
}

function isStored(element: ElementDefinition, { record }: DisplayOptions): boolean {
  return record !== null && element.mode !== undefined && Object.hasOwn(record.items, element.name);
}

async function contentOf(
  run: Run,
  block: Block,
  element: ElementDefinition,
  session: BlockSession,
  options: DisplayOptions,
  outcome: LogicOutcome | undefined,
  context: ShowContext,
): Promise<Content> {
  const value: Json = outcome?.ok ? outcome.value : null;
  if (roleOf(element) === 'html') {
    if (outcome) return typeof value === 'string' ? { html: value } : { value };
    // A stored value may have come from a client: data, not markup.
    const stored = options.record?.items[element.name];
    return typeof stored === 'string' ? { html: escapeHtml(stored) } : { value: stored ?? null };
  }
  const { show, readable } = element.kind;
  if (!show || builtInShown[element.name]?.(options, run, block) === false) return { html: '' };
  // A computed input cannot be entered: it shows its value once that is stored.
  if (element.mode && !isStored(element, options)) return { html: '' };
  const { record } = options;
  if (options.mode === 'text' && record && !isShown(element, (name) => record.items[name] ?? null)) return { html: '' };
  const mode = element.mode ? 'text' : options.mode;
  const isInput = mode === 'input' && roleOf(element) === 'input';
  const submitted = options.submission?.entered.get(element.name) ?? null;
  const stored = record && Object.hasOwn(record.items, element.name) ? itemOf(record.items, element.name) : undefined;
  const locale = await localeOf(run);
  const found = hasOptions(session, element) ? (await optionsOf(session, [element])).get(element.name) : undefined;
  const view: ElementView = {
    definition: element,
    mode,
    value: initialValue(element, options, outcome),
    stored,
    entered: submitted,
    idPrefix: idPrefix(run, block, options),
    formAction: formActionOf(run, block, options),
    disabled: onItsPage.has(element.name) && isSaveDisabled(run, options),
    files: isOfFiles(element) ? formFiles(options, submitted, initialValue(element, options, outcome)) : [],
    hasDefault: session.has(element.name),
    locale,
    options:
      found && isInput ? await withPlaces(run, block, element, found, { stored, say: locale.say }) : (found ?? []),
    ...(isInput ? context.beside(element.name) : { error: null }),
  };
  const shown = await shortWork(() => show(view, context));
  if (typeof shown !== 'string') return shown;
  return { html: shown, ...(mode === 'text' && readable && { text: plainText(view.value) }) };
}

/** What an element's type may use to show it. */
const showContext = (
  run: Run,
  session: BlockSession,
  options: DisplayOptions,
  messages: FormMessages | undefined,
): ShowContext => ({
  markdown: run.services.markdown,
  data: elementData(run),
  options: (elements) => optionsOf(session, elements),
  files: (submitted, value) => formFiles(options, submitted, value),
  beside: (name) => messages?.beside(name) ?? { error: null, autofocus: false },
  sent: options.submission ?? null,
  ofEntries: null,
});

function initialValue(element: ElementDefinition, { record }: DisplayOptions, outcome: LogicOutcome | undefined): Json {
  if (outcome?.ok && roleOf(element) === 'html') return outcome.value;
  if (record) return itemOf(record.items, element.name);
  if (outcome?.ok && outcome.defined) return outcome.value;
  return element.default ?? null;
}

/** When, and to whom, the built-in actions are shown; otherwise their HTML is empty. */
const builtInShown: Record<string, (options: DisplayOptions, run: Run, block: Block) => boolean> = {
  _save: ({ mode }) => mode === 'input',
  _edit: ({ mode, record }, run) => mode === 'text' && record !== null && mayChange(run, 'edit', record),
  _delete: ({ record }, run) => record !== null && mayChange(run, 'delete', record),
  // The panel, and code that shows a block, have no visitor to whom a link could be given.
  _draft: ({ mode, record }, { visit }, { definition }) =>
    definition.drafts && mode === 'input' && record === null && visit.forms !== undefined,
};

/**
 * The state of a record, and beside its text a button for each state into which the requester may bring it. A form has no such
 * buttons: what was entered would be lost. Nothing without a record.
 * @param formAction the address that the buttons send to
 */
async function stateHtml(
  run: Run,
  states: States,
  { record, mode }: Shown,
  formAction: string | undefined,
): Promise<string> {
  if (!record) return '';
  const from = stateOf(states, record.items);
  const name = from ? labelOf(states, from.name) : String(record.items.state ?? '');
  const { say } = await localeOf(run);
  const ways = mode === 'text' && mayMove(run, from, record.creator) ? waysFrom(states, from) : [];
  const buttons = ways.map((to) => {
    const attrs = { type: 'submit', name: STATE_BUTTONS, value: to, class: 'apps-action', formaction: formAction };
    const label = say('state_to', { state: labelOf(states, to) });
    return ` <button${attributes({ ...attrs, formnovalidate: true })}>${escapeHtml(label)}</button>`;
  });
  const group = attributes({ class: 'apps-state', role: 'group', 'aria-label': say('state') });
  return `<span${group}><strong${attributes({ 'data-state': from?.name })}>${escapeHtml(name)}</strong>${buttons.join('')}</span>`;
}
