/**
 * The syntax of the query language (docs/reference/search.md#queries): its operators and its words. The server's parser and checker, the
 * completion and the filters of the admin panel, and the reference page follow from it.
 */

/** The type of a declared index. */
export type IndexType = 'field' | 'text' | 'keyword';

/**
 * The syntax of an operator.
 * `comparison`: between an index and a value, in either order. `membership`: `value [not] in index`.
 * `list`: `index [not] in any (list)`.
 */
export type Form = 'comparison' | 'membership' | 'list';

/** An operator of the query language. */
export interface OperatorSyntax {
  form: Form;
  /** Index types that it accepts; any other is an error. */
  on: readonly IndexType[];
  /** The equivalent operator of a comparison with its sides exchanged. */
  mirrored?: string;
  /** Whether two comparisons may enclose an index, as in `1 < index <= 5`. */
  chains?: boolean;
  /** Its line in docs/reference/search.md: the records that it finds. */
  doc: string;
}

/** The operators by their names; a list operator's begins with the word of a membership. */
export const operators = {
  '==': {
    form: 'comparison',
    on: ['field', 'text'],
    mirrored: '==',
    doc: 'with this value; of a `text` index the same as `in`',
  },
  '!=': {
    form: 'comparison',
    on: ['field', 'text'],
    mirrored: '!=',
    doc: 'with another value of the same type; of a `text` index the same as `not in`',
  },
  '<': {
    form: 'comparison',
    on: ['field'],
    mirrored: '>',
    chains: true,
    doc: 'with a smaller value of the same type',
  },
  '<=': {
    form: 'comparison',
    on: ['field'],
    mirrored: '>=',
    chains: true,
    doc: 'with this value or a smaller one of the same type',
  },
  '>': { form: 'comparison', on: ['field'], mirrored: '<', doc: 'with a greater value of the same type' },
  '>=': { form: 'comparison', on: ['field'], mirrored: '<=', doc: 'with this value or a greater one of the same type' },
  in: {
    form: 'membership',
    on: ['keyword', 'text'],
    doc: 'whose list holds the value; whose text holds the words',
  },
  'in any': {
    form: 'list',
    on: ['field', 'keyword', 'text'],
    doc: 'for which `==` or `in` finds one of the values; none for an empty list',
  },
  'in all': {
    form: 'list',
    on: ['field', 'keyword', 'text'],
    doc: 'for which `==` or `in` finds each of the values; all for an empty list',
  },
} as const satisfies Record<string, OperatorSyntax>;

export type OperatorName = keyof typeof operators;

const all = Object.entries(operators) as [OperatorName, OperatorSyntax][];

/** Names of the operators of a form, of all index types or of one, in the order of the table. */
export const operatorsWith = (form: Form, type?: IndexType): OperatorName[] =>
  all.flatMap(([name, row]) => (row.form === form && (type === undefined || row.on.includes(type)) ? [name] : []));

/** Names of the comparisons that may enclose an index. */
export const chaining: readonly OperatorName[] = all.flatMap(([name, { chains }]) => (chains ? [name] : []));

/** The words between a value or an index and the list of which it is a member. */
export const membershipWords: readonly OperatorName[] = operatorsWith('membership');

/** Words and signs between conditions. */
export const connectives = { and: ['and', '&'], or: ['or', '|'] } as const;

/** Words that are no names. */
export const reserved: ReadonlySet<string> = new Set(['and', 'or', 'not', ...membershipWords]);

/** The operator of the given name and form. */
export function operatorOf(name: string, form: Form): OperatorName | undefined {
  return all.find(([known, row]) => known === name && row.form === form)?.[0];
}
