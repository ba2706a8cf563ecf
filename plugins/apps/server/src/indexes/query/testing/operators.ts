import type { OperatorName } from '../../../../../shared/query/operators';

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
