import type { AppDetail, IndexSummary } from '../../../../../shared/admin-api';

/** Operators of the filter builder by the kind of an index. */
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

/** What was entered as a value of the query: a number or a boolean where the element has such values. */
function literal(entered: string, type: string | undefined): string {
  if (entered === '') return 'null';
  if (type !== undefined && numbers.has(type) && Number.isFinite(Number(entered))) return String(Number(entered));
  if (type === 'BOOLEAN' && (entered === 'true' || entered === 'false')) return entered;
  return quoted(entered);
}

/** One condition of the builder as a query. */
export function condition(app: AppDetail, index: string, operator: Operator, entered: string): string {
  const type = app.columns.find(({ name }) => name === index)?.type;
  if (operator === 'in' || operator === 'not in') return `${quoted(entered)} ${operator} ${index}`;
  return `${index} ${operator} ${literal(entered, type)}`;
}

/** A query that holds both conditions. */
export const both = (query: string, added: string): string =>
  query.trim() === '' ? added : /\bor\b|\|/.test(query) ? `(${query}) and ${added}` : `${query} and ${added}`;
