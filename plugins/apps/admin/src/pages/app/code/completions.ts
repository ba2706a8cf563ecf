import {
  type Completion,
  type CompletionContext,
  type CompletionResult,
  completeFromList,
} from '@codemirror/autocomplete';
import type { AppDetail, CodeHints, ContextMember } from '../../../../../shared/admin-api';

type Source = (context: CompletionContext) => CompletionResult | null | Promise<CompletionResult | null>;

/** What is known while a file is edited. */
export interface Known {
  app: AppDetail;
  hints: CodeHints | undefined;
}

/**
 * What is completed in a file: keys of a definition or of the settings; members of `context` by their types; elements of the
 * block.
 */
export function completionsOf(path: string, known: () => Known): Source[] {
  const block = /^blocks\/([^/]+)\.[a-z]+$/.exec(path)?.[1];
  const elements = () => elementsOf(known().app, block);
  if (/\.ya?ml$/.test(path))
    return [(context) => keys(known().hints, path === 'settings.yaml' ? 'settings' : 'definition')(context)];
  if (/\.(js|mjs|ts|py)$/.test(path))
    return [
      (context) => members(context, known().hints?.types ?? {}, elements()),
      (context) => quoted(context, known().hints?.types ?? {}, elements(), known().app),
    ];
  return /\.(html|liquid)$/.test(path) ? [(context) => afterBrace(context, elements())] : [];
}

const elementsOf = (app: AppDetail, block: string | undefined): Completion[] =>
  (app.blocks.find(({ id }) => id === block)?.elements ?? []).map(({ name, type }) => ({
    label: name,
    detail: type,
    type: 'variable',
  }));

const keys = (hints: CodeHints | undefined, which: 'definition' | 'settings'): Source =>
  completeFromList((hints?.[which] ?? []).map((label) => ({ label, type: 'property' })));

/** Objects with members, each with the arguments of a call that it may be the result of: `context.app.get_record('x').`. */
const PATH = /(?:[A-Za-z_]\w*(?:\([^()\n]*\))?\??\.)+/;
const BEFORE_MEMBER = new RegExp(`${PATH.source}\\w*$`);
/** An object and its method or bracket, before a text that is being written: `record.get("`, `record["`. */
const BEFORE_TEXT = new RegExp(`(${PATH.source.replace(/\+$/, '*')}[A-Za-z_]\\w*)\\s*([([])\\s*["'][\\w-]*$`);

/** `context.app.` offers the members of an app, and `record.` also the block's elements: items are properties. */
function members(
  context: CompletionContext,
  types: CodeHints['types'],
  elements: readonly Completion[],
): CompletionResult | null {
  const found = context.matchBefore(BEFORE_MEMBER);
  const type = found && typeOf(namesOf(found.text).slice(0, -1), types);
  if (!found || !type) return null;
  const from = found.from + found.text.search(/\w*$/);
  const items = type === 'AppRecord' ? elements : [];
  return { from, options: [...(types[type] ?? []).map(option), ...items], validFor: /^\w*$/ };
}

/** Texts that name an element or a block, by the type and the method that takes them; `[` is an item. */
const TAKES: Readonly<Record<string, readonly string[]>> = {
  AppRecord: ['get', 'set', 'inc', '['],
  Request: ['get', 'has'],
  ParentRequest: ['get', 'has'],
  Context: ['invalid'],
  App: ['get_block'],
};

/** `record.get("` offers the elements of the block, `get_block("` the blocks of the app. */
function quoted(
  context: CompletionContext,
  types: CodeHints['types'],
  elements: readonly Completion[],
  { blocks }: AppDetail,
): CompletionResult | null {
  const found = context.matchBefore(BEFORE_TEXT);
  const [, path = '', bracket = ''] = found ? (BEFORE_TEXT.exec(found.text) ?? []) : [];
  const names = namesOf(path);
  const method = bracket === '[' ? '[' : (names.pop() ?? '');
  const type = typeOf(names, types);
  if (!found || !type || !TAKES[type]?.includes(method)) return null;
  const ids = blocks.map(({ id }): Completion => ({ label: id, type: 'class' }));
  const from = found.from + found.text.search(/[\w-]*$/);
  return { from, options: type === 'App' ? ids : [...elements], validFor: /^[\w-]*$/ };
}

/** The names of `context.app.get_record('x').na`, without arguments. */
const namesOf = (path: string): string[] =>
  path.split(/\.(?![^(]*\))/).map((name) => name.replace(/(\([^()]*\))?\??$/, ''));

/** The type of an object by its path. The first name is `context`, or that of a property, as in `({ app, record })`. */
export function typeOf(names: readonly string[], types: CodeHints['types']): string | null {
  const [first, ...rest] = names;
  let type = first === 'context' ? 'Context' : typeNamed(first, types);
  for (const name of rest) {
    const owner = type;
    type = owner === null ? null : (types[owner]?.find((member) => member.name === name)?.type ?? null);
  }
  return type;
}

/** The type of a variable that is named like a property of `context` or of one of its objects. */
function typeNamed(name: string | undefined, types: CodeHints['types']): string | null {
  for (const members of Object.values(types)) {
    const member = members.find((one) => one.kind === 'property' && one.name === name && one.type !== null);
    if (member) return member.type;
  }
  return null;
}

function option({ name, kind, signature, doc }: ContextMember): Completion {
  const [first = '', ...others] = signature.split('\n');
  const detail = others.length > 0 ? `${first} (+${others.length})` : first;
  const info = [...(others.length > 0 ? [signature.replaceAll(/^/gm, name)] : []), doc].filter(Boolean).join('\n\n');
  return { label: name, detail, type: kind, ...(info && { info }) };
}

function afterBrace(context: CompletionContext, options: readonly Completion[]): CompletionResult | null {
  const found = context.matchBefore(/\{\s*\w*$/);
  return found && { from: found.from + found.text.search(/\w*$/), options, validFor: /^\w*$/ };
}
