import type { AppDetail, ColumnSummary, IndexSummary } from '../../../../../../shared/admin-api';

/** Operators of the filter builder by the type of an index. */
const operators = {
  field: ['==', '!=', '<', '<=', '>', '>='],
  text: ['in', 'not in'],
  keyword: ['in', 'not in'],
} as const;

export type Operator = (typeof operators)[keyof typeof operators][number];

export const operatorsOf = (type: IndexSummary['type']): readonly Operator[] => operators[type];

/** Element types whose values are numbers. */
const numbers = new Set(['NUMBER', 'INTEGER', 'RANGE', 'RATING']);

/** A text of the query language: a value never changes the query around it. */
const quoted = (value: string): string =>
  `'${value.replace(/[\\']/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\r')}'`;

type Value = ColumnSummary['options'][number]['value'];

/** A value in the query language. */
export const literal = (value: Value): string => (typeof value === 'string' ? quoted(value) : String(value));

/** The fixed values of an element; none where any value will do. */
export const valuesOf = (column: ColumnSummary | undefined): { value: Value; label: string }[] =>
  column?.type === 'BOOLEAN'
    ? [true, false].map((value) => ({ value, label: String(value) }))
    : (column?.options ?? []);

/** What was entered as a value of the query: one of the fixed values of the element, or a number where it has numbers. */
function entered(text: string, column: ColumnSummary | undefined): string {
  if (text === '') return 'null';
  const known = valuesOf(column).find(({ value }) => String(value) === text);
  if (known) return literal(known.value);
  return literal(column && numbers.has(column.type) && Number.isFinite(Number(text)) ? Number(text) : text);
}

/** One condition of the builder as a query. */
export function condition(app: AppDetail, index: string, operator: Operator, text: string): string {
  const column = app.columns.find(({ name }) => name === index);
  if (operator === 'in' || operator === 'not in') return `${quoted(text)} ${operator} ${index}`;
  return `${index} ${operator} ${entered(text, column)}`;
}

/** A query that holds both conditions. */
export const both = (query: string, added: string): string =>
  query.trim() === '' ? added : /\bor\b|\|/.test(query) ? `(${query}) and ${added}` : `${query} and ${added}`;
