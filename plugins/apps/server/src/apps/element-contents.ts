import type { Json } from '../../../shared/json';
import { didYouMean } from '../did-you-mean';
import type { LayoutData } from '../layouts/types';
import type { LogicOutcome } from '../logic/types';
import type { StoredRecord } from '../records/types';
import type { Rights } from '../requester/types';
import type { BlockSession } from './block-session';
import { optionsOf } from './element-options';
import { builtInActions, elementTypes, escapeHtml } from './elements';
import { errorMark, noticeMark } from './error-mark';
import { notice } from './notices';
import type { Run } from './run';
import type { Submission } from './submission';
import type { Block, ElementDefinition } from './types';

/** What to show of a block: a new record's form, a record for reading, or a record's form. */
export interface DisplayOptions {
  record: StoredRecord | null;
  mode: 'input' | 'text';
  /** What the visitor submitted, with what is wrong with it; shown again in the fields. */
  submission?: Submission;
}

type Content = Awaited<ReturnType<LayoutData['element']>>;

/**
 * What stands for each element of a block. Elements placed in the layout are computed together, in the layout's order;
 * others on demand. A function that fails leaves an error mark in its place (contract, section 8).
 */
export async function elementContents(
  run: Run,
  block: Block,
  session: BlockSession,
  options: DisplayOptions,
  placed: readonly string[],
): Promise<LayoutData['element']> {
  const { elements } = block.definition;
  const declared = placed.flatMap((name) => elements.get(name) ?? []);
  const computed = await session.tryAll(declared.filter((e) => needsFunction(e, session, options)).map((e) => e.name));

  return async (name) => {
    const element = elements.get(name) ?? builtInActions.get(name);
    if (!element) return undefined;
    let outcome = computed.get(name);
    if (!outcome && needsFunction(element, session, options)) outcome = (await session.tryAll([name])).get(name);
    if (outcome && !outcome.ok) return { html: errorMark(run, outcome.error), failed: true };
    const content = await contentOf(run, block, element, session, options, outcome);
    return lacksFunction(element, session, options) ? withNotice(run, block, element, session, content) : content;
  };
}

/** BASIC elements are computed unless their value was stored; inputs ask for a default on a fresh form only. */
function needsFunction(element: ElementDefinition, session: BlockSession, options: DisplayOptions): boolean {
  if (!session.has(element.name) || element.type === 'ACTION') return false;
  if (elementTypes.get(element.type)?.input) return !element.mode && !options.record && !options.submission;
  return !isStored(element, options);
}

/** A BASIC or action that does nothing, because the logic has no function of its name. */
function lacksFunction({ name, type }: ElementDefinition, session: BlockSession, { record }: DisplayOptions): boolean {
  if (session.has(name) || builtInActions.has(name)) return false;
  return type === 'ACTION' || (type === 'BASIC' && !(record && Object.hasOwn(record.items, name)));
}

/** The same content, followed by an error mark for requesters who see details. */
function withNotice(
  run: Run,
  block: Block,
  { name, type, position }: ElementDefinition,
  { functions }: BlockSession,
  content: Content,
): Content {
  const lack = block.logic ? `${block.logic.path} has no function "${name}"` : 'the block has no logic file';
  const message = `the ${type} "${name}" does nothing, for ${lack}${didYouMean(name, [...functions])}`;
  notice(run, block, message, position);
  const mark = noticeMark(run, message);
  if (mark === '') return content;
  return { html: `${content && 'html' in content ? content.html : ''}${mark}`, failed: true };
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
): Promise<Content> {
  const value: Json = outcome?.ok ? outcome.value : null;
  if (element.type === 'BASIC') {
    if (outcome) return typeof value === 'string' ? { html: value } : { value };
    // A stored value may have come from a client: data, not markup.
    const stored = options.record?.items[element.name];
    return typeof stored === 'string' ? { html: escapeHtml(stored) } : { value: stored ?? null };
  }
  const render = elementTypes.get(element.type)?.render;
  if (!render || builtInShown[element.name]?.(options, run.rights) === false) return { html: '' };
  // What is computed cannot be entered: its value is shown once there is one.
  if (element.mode && !isStored(element, options)) return { html: '' };
  return {
    html: render({
      definition: element,
      mode: element.mode ? 'text' : options.mode,
      value: initialValue(element, options, outcome),
      entered: options.submission?.entered.get(element.name) ?? null,
      error: options.submission?.errors.get(element.name) ?? null,
      idPrefix: idPrefix(run, block, options),
      formAction: formActionOf(run, block, options),
      options: (await optionsOf(session, [element])).get(element.name) ?? [],
    }),
  };
}

function initialValue(element: ElementDefinition, { record }: DisplayOptions, outcome: LogicOutcome | undefined): Json {
  if (record) return Object.hasOwn(record.items, element.name) ? (record.items[element.name] ?? null) : null;
  if (outcome?.ok && outcome.defined) return outcome.value;
  return element.default ?? null;
}

/** When the built-in actions make sense, and to whom; elsewhere nothing stands in their place. */
const builtInShown: Record<string, (options: DisplayOptions, rights: Rights) => boolean> = {
  _save: ({ mode }) => mode === 'input',
  _edit: ({ mode, record }, rights) => mode === 'text' && record !== null && rights.edit(record.creator),
  _delete: ({ record }, rights) => record !== null && rights.delete(record.creator),
};

/** Tells the controls of the blocks of a page apart, and those of records of one block inside another one. */
function idPrefix(run: Run, block: Block, { record }: DisplayOptions): string {
  const prefix = `apps-${run.app.id}-${block.id}`;
  return run.depth > 0 && record ? `${prefix}-${encodeURIComponent(record.id)}` : prefix;
}

/** What is shown inside another block has no form of its own, for forms do not nest: its buttons name its address. */
function formActionOf(run: Run, block: Block, { record }: DisplayOptions): string | undefined {
  if (run.depth === 0) return undefined;
  const { urls } = run.services.sites;
  const { site, contentPath } = run.visit;
  return record
    ? urls.record(site, run.app.id, record.id, contentPath)
    : urls.block(site, run.app.id, block.id, contentPath);
}
