import type { Json } from '../../../../../shared/json';
import { encodeText } from '../../keys/keys';
import { words } from '../../keys/words';
import { keywordsOf, textOf } from '../../tables/entries';
import type { Condition, OperatorName } from '../operators';

/** Indexes of the generated searches. */
export const fieldNames = ['author', 'total', 'total', 'my-field.2', 'id'] as const;

/** The random parts of a generated comparison, in the syntax of a query. */
export interface Parts {
  pick<T>(list: readonly T[]): T;
  /** One of `fieldNames`, the same throughout an expression. */
  field: string;
  /** A value that such a field may have. */
  value(): string;
  /** Any value. */
  scalar(): string;
  /** A list of values of the field, or the name of one. */
  list(): string;
  /** A search text. */
  text(): string;
  /** The name of a list of search texts. */
  texts(): string;
  /** `not ` or nothing. */
  not: string;
}

/** Property test of the operators, a row for each syntax: all of them run on every database. */
export const expressions: { of: OperatorName[]; write(parts: Parts, operator: OperatorName): string }[] = [
  { of: ['==', '!=', '<', '<=', '>', '>='], write: (of, operator) => `${of.field} ${operator} ${of.value()}` },
  {
    of: ['<', '<='],
    write: (of, operator) => `${of.value()} ${operator} ${of.field} ${of.pick(['<', '<='])} ${of.value()}`,
  },
  { of: ['in any', 'in all'], write: (of, operator) => `${of.field} ${of.not}${operator}(${of.list()})` },
  { of: ['in'], write: (of, operator) => `${of.scalar()} ${of.not}${operator} tags` },
  { of: ['in any', 'in all'], write: (of, operator) => `tags ${of.not}${operator}(${of.list()})` },
  { of: ['in'], write: (of, operator) => `${of.text()} ${of.not}${operator} ${of.pick(['body', 'title'])}` },
  { of: ['==', '!='], write: (of, operator) => `${of.pick(['body', 'title'])} ${operator} ${of.text()}` },
  { of: ['in any', 'in all'], write: (of, operator) => `body ${of.not}${operator}(${of.texts()})` },
];

type Leaf = Exclude<Condition, { kind: 'and' | 'or' | 'not' | 'constant' }>;
type Oracle = { [K in Leaf['kind']]: (item: Json | undefined, condition: Leaf & { kind: K }) => boolean };

/** Whether an item matches, computed naively: a row for each kind of condition. */
export const oracle: Oracle = {
  compare: (item, { comparator, value }) => compares(item, comparator, value),
  oneOf: (item, { values }) => values.some((value) => compares(item, '==', value)),
  keywords(item, { mode, values }) {
    const held = keywordsOf(item);
    const has = (value: Json) => held.some((one) => one === value);
    return mode === 'any' ? values.some(has) : values.every(has);
  },
  text: (item, { query }) => query.some((parts) => parts.every((part) => holds(item, part) !== part.negated)),
};

/** The order of two items of one type. */
export function compareSame(a: Json | undefined, b: Json | undefined): number {
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(encodeText(a), encodeText(b));
  return Number(a) - Number(b);
}

function compares(item: Json | undefined, comparator: string, value: Json): boolean {
  if (value === null) {
    const missing = item === undefined || item === null;
    return comparator === '==' ? missing : comparator === '!=' && !missing;
  }
  if (typeof item !== typeof value) return false;
  const difference = compareSame(item, value);
  const tests: Record<string, boolean> = {
    '==': difference === 0,
    '!=': difference !== 0,
    '<': difference < 0,
    '<=': difference <= 0,
    '>': difference > 0,
    '>=': difference >= 0,
  };
  return tests[comparator] as boolean;
}

function holds(item: Json | undefined, part: { words: string[]; prefix: boolean }): boolean {
  const list = words(textOf(item));
  return list.some((_, start) =>
    part.words.every((word, at) => {
      const held = list[start + at];
      return (
        held !== undefined && (part.prefix && at === part.words.length - 1 ? held.startsWith(word) : held === word)
      );
    }),
  );
}
