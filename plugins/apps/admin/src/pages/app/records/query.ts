import { type AppDetail, type ColumnSummary, type IndexSummary, valueKinds } from '../../../../../shared/admin-api';
import {
  chaining,
  connectives,
  membershipWords,
  type OperatorName,
  operatorOf,
  operatorsWith,
} from '../../../../../shared/query/operators';
import { hasOr, type Lexeme, lexemes, quoted } from '../../../../../shared/query/tokens';

/** An operator of the filter builder. */
export type Operator = OperatorName | `not ${OperatorName}`;

/** Operators of the filter builder by the type of an index: whether it holds a value, where it is asked so, else comparisons. */
export function operatorsOf(type: IndexSummary['type']): readonly Operator[] {
  const memberships = operatorsWith('membership', type);
  return memberships.length > 0
    ? memberships.flatMap((name): Operator[] => [name, `not ${name}`])
    : operatorsWith('comparison', type);
}

type Value = ColumnSummary['options'][number]['value'];

/** A value in the query language. */
const literal = (value: Value): string => (typeof value === 'string' ? quoted(value) : String(value));

/** The fixed values of an element; none where any value will do. */
export const valuesOf = (column: ColumnSummary | undefined): { value: Value; label: string }[] =>
  column && valueKinds[column.type] === 'boolean'
    ? [true, false].map((value) => ({ value, label: String(value) }))
    : (column?.options ?? []);

/** What was entered as a value of the query: one of the fixed values of the element, or a number where it has numbers. */
function entered(text: string, column: ColumnSummary | undefined): string {
  if (text === '') return 'null';
  const known = valuesOf(column).find(({ value }) => String(value) === text);
  if (known) return literal(known.value);
  return literal(column && valueKinds[column.type] === 'number' && Number.isFinite(Number(text)) ? Number(text) : text);
}

const isMembership = (operator: Operator): boolean =>
  operatorOf(operator.replace(/^not /, ''), 'membership') !== undefined;

/** One condition of the builder as a query. */
export function condition(app: AppDetail, index: string, operator: Operator, text: string): string {
  const column = app.columns.find(({ name }) => name === index);
  if (isMembership(operator)) return `${quoted(text)} ${operator} ${index}`;
  return `${index} ${operator} ${entered(text, column)}`;
}

/** A query that holds both conditions. */
export const both = (query: string, added: string): string =>
  query.trim() === '' ? added : hasOr(query) ? `(${query}) and ${added}` : `${query} and ${added}`;

/**
 * A query as a parameter of the page's address. Strapi reads parameters decoded and writes all of them back without encoding
 * them: this form has no character that an address gives a meaning, so that it stays the same.
 */
export const addressed = (query: string): string =>
  encodeURIComponent(query).replaceAll('~', '%7E').replaceAll('%', '~');

/** The query of an address: as `addressed` has written it, or as a person has. */
export function queryOfAddress(written: string): string {
  try {
    return decodeURIComponent(written.replaceAll('%', '%25').replace(/~(?=[0-9A-F]{2})/g, '%'));
  } catch {
    return written;
  }
}

/** What completion knows of an app. */
export type Known = Pick<AppDetail, 'indexes' | 'columns'>;

export interface Suggestion {
  /** What stands in the list, and in the query. */
  label: string;
  /** The label of the element or of its value, where it is another. */
  detail?: string | undefined;
  /** The suggested index. */
  index?: IndexSummary;
  /** What opens after the label. */
  opens?: '(';
}

/** Suggestions for the part of a query from `from` to `to`. */
interface Completion {
  from: number;
  to: number;
  suggestions: Suggestion[];
}

/** Suggestions that are listed at most. */
const MAX_LISTED = 50;

interface Token {
  text: string;
  /** Position of its first character, from 0. */
  from: number;
  /** A letter of `kinds`. */
  kind: string;
}

const joining: readonly string[] = Object.values(connectives).flat();
const comparisons: readonly string[] = operatorsWith('comparison');
/** `any` and `all`, after the word of a membership. */
const modes = operatorsWith('list').map((name) => name.replace(/^\S+ /, ''));

/**
 * Kinds of tokens: I index, V value or bound name, O string without an end, C comparison, i `in`, n `not`, a `any` or `all`,
 * J `and` or `or`, `[` the parenthesis of a list of values; other symbols are their own kinds.
 */
function kindOf({ kind, text }: Lexeme, before: string, { indexes }: Known): string {
  if (kind === 'open') return 'O';
  if (joining.includes(text)) return 'J';
  if (text === 'not') return 'n';
  if (operatorOf(text, 'membership')) return 'i';
  if (/In?i$/.test(before) && modes.includes(text)) return 'a';
  if (comparisons.some((name) => name.startsWith(text))) return 'C';
  if (text === '(' && before.endsWith('a')) return '[';
  if (kind === 'symbol' || (kind === 'other' && !/[+.-]/.test(text))) return text;
  return indexes.some(({ name }) => name === text) ? 'I' : 'V';
}

/** The tokens of a query, or of its beginning, which need not be right. */
function tokensOf(known: Known, query: string): Token[] {
  const tokens: Token[] = [];
  let kinds = '';
  for (const lexeme of lexemes(query)) {
    const { text, from } = lexeme;
    // A list of values may stand in brackets inside its parentheses.
    if (text === '[' || text === ']') continue;
    const kind = kindOf(lexeme, kinds, known);
    kinds += kind;
    tokens.push({ text, from, kind });
  }
  return tokens;
}

/** Where a condition begins. */
const BEGIN = '(?:^|[Jn(])';

type Offer = (known: Known, tokens: Token[], typed: string) => Suggestion[];

/** What may follow, by the kinds of the tokens before; the first row that fits counts. */
const offers: [after: RegExp, offer: Offer][] = [
  [/\[(?:[VI],)*$/, (known, tokens) => valuesAfter(known, tokens)],
  [/\[[VI,]*$/, () => []],
  [/Vn?i$/, ({ indexes, columns }) => indexes.filter(({ type }) => type !== 'field').map(indexWith(columns))],
  [/In?i$/, () => modes.map((label) => ({ label, opens: '(' }))],
  [/In$/, () => lists('')],
  [/Vn$/, () => labels(...membershipWords)],
  [/IC$/, (known, tokens) => valuesAfter(known, tokens)],
  [/VC$/, ({ indexes, columns }) => indexes.filter(({ type }) => type === 'field').map(indexWith(columns))],
  [new RegExp(`${BEGIN}I$`), ({ indexes }, tokens) => operatorsAfter(indexes, tokens)],
  [
    new RegExp(`${BEGIN}V$`),
    () => labels(...membershipWords, ...membershipWords.map((name) => `not ${name}`), ...chaining),
  ],
  [new RegExp(`${BEGIN}VCI$`), (_, tokens) => [...chain(tokens), ...joins(tokens)]],
  [new RegExp(`${BEGIN}$`), conditions],
  [/[IV)]$/, (_, tokens) => joins(tokens)],
];

const labels = (...all: string[]): Suggestion[] => all.map((label) => ({ label }));

/** The label of something, where it is another text than its name. */
const other = (label: string | undefined, name: string) => (label === name ? undefined : label);

const indexWith =
  (columns: ColumnSummary[]) =>
  (index: IndexSummary): Suggestion => {
    const { name } = index;
    return { label: name, detail: other(columns.find((column) => column.name === name)?.label, name), index };
  };

const lists = (before: string, type?: IndexSummary['type']): Suggestion[] =>
  operatorsWith('list', type).map((name) => ({ label: `${before}${name}`, opens: '(' }));

function operatorsAfter(indexes: IndexSummary[], tokens: Token[]): Suggestion[] {
  const { type = 'field' } = indexes.find(({ name }) => name === tokens.at(-1)?.text) ?? {};
  return [...labels(...operatorsWith('comparison', type)), ...lists('', type), ...lists('not ', type)];
}

/** The other end of `1 < index`. */
const chain = (tokens: Token[]): Suggestion[] =>
  chaining.some((name) => name === tokens.at(-2)?.text) ? labels(...chaining) : [];

function joins(tokens: Token[]): Suggestion[] {
  const count = (...kinds: string[]) => tokens.filter(({ kind }) => kinds.includes(kind)).length;
  return labels('and', 'or', ...(count('(', '[') > count(')') ? [')'] : []));
}

/** Values of the index that the last comparison or list is about. */
function valuesAfter({ columns, indexes }: Known, tokens: Token[]): Suggestion[] {
  // Bare words in a list are names of values, also where they are those of indexes.
  const list = tokens.at(-1)?.kind === 'C' ? tokens.length : tokens.findLastIndex(({ kind }) => kind === '[');
  const name = tokens.slice(0, list).findLast(({ kind }) => kind === 'I')?.text;
  const found = suggestedValues(columns.find((column) => column.name === name));
  const isField = indexes.some((index) => index.name === name && index.type === 'field');
  return isField ? [...found, { label: 'null' }] : found;
}

const suggestedValues = (column: ColumnSummary | undefined): Suggestion[] =>
  valuesOf(column).map(({ value, label }) => ({ label: literal(value), detail: other(label, String(value)) }));

/** The beginning of a condition: an index, or, once something is typed, a value that a list holds. */
function conditions({ indexes, columns }: Known, _: Token[], typed: string): Suggestion[] {
  const held = columns
    .filter(({ index }) => index === 'keyword')
    .flatMap((column) =>
      suggestedValues(column).map((value) => ({ ...value, label: `${value.label} in ${column.name}` })),
    );
  return [...indexes.map(indexWith(columns)), { label: 'not' }, ...(typed === '' ? [] : held)];
}

/** The suggestions that fit what is typed: first those that begin with it. */
function fitting(all: Suggestion[], typed: string): Suggestion[] {
  const bare = (text: string) => text.replace(/^['"]/, '').toLowerCase();
  const isString = /^['"]/.test(typed);
  const wanted = bare(typed);
  const rank = ({ label, detail = '' }: Suggestion): number => {
    if ((isString && !label.startsWith("'")) || label === typed) return -1;
    if (bare(label).startsWith(wanted)) return 2;
    // Of a value with its index, only the value counts.
    const text = `${label.replace(/ in .*/, '')} ${detail}`;
    return wanted !== '' && text.toLowerCase().includes(wanted) ? 1 : -1;
  };
  const ranked = all.map((one) => ({ one, at: rank(one) })).filter(({ at }) => at > 0);
  return [...ranked.filter(({ at }) => at === 2), ...ranked.filter(({ at }) => at === 1)]
    .slice(0, MAX_LISTED)
    .map(({ one }) => one);
}

/** What may stand in a query at the cursor. */
export function completionOf(known: Known, query: string, cursor: number): Completion {
  const tokens = tokensOf(known, query.slice(0, cursor));
  const last = tokens.at(-1);
  // A word, a comparison or a string that ends at the cursor is still being typed.
  const isTyped =
    last && (last.kind === 'O' || (last.from + last.text.length === cursor && /^[\w=!<>+.-]/.test(last.text)));
  const typed = isTyped ? (tokens.pop()?.text ?? '') : '';
  const kinds = tokens.map(({ kind }) => kind).join('');
  const offer = offers.find(([after]) => after.test(kinds))?.[1];
  // What is replaced goes on to the end of the word, and of the string.
  const pattern = last?.kind === 'O' ? `[\\w.-]*${last.text.charAt(0)}?` : last?.kind === 'C' ? '=?' : '[\\w.-]*';
  const [end = ''] = new RegExp(`^${pattern}`).exec(query.slice(cursor)) ?? [];
  return {
    from: cursor - typed.length,
    to: typed === '' ? cursor : cursor + end.length,
    suggestions: fitting(offer?.(known, tokens, typed) ?? [], typed),
  };
}

/** The query with a suggestion in it, and where the cursor then is. */
export function withSuggestion(query: string, { from, to }: Completion, { label, opens }: Suggestion) {
  const [before, after] = [query.slice(0, from), query.slice(to)];
  const space = from === to && /[^\s([]$/.test(before) ? ' ' : '';
  const added = `${before}${space}${label} ${opens ?? ''}`;
  return { query: added + (opens ? after : after.replace(/^\s/, '')), cursor: added.length };
}
