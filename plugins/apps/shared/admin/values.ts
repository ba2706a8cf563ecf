/** What the values of an element type are, where the panel shows them or filters by them in a way of their own. */
export type ValueKind = 'number' | 'boolean' | 'date' | 'datetime' | 'link';

/** Element types by name, as a column of the panel has it; a test compares them with the server's table of element types. */
export const valueKinds: Readonly<Record<string, ValueKind>> = {
  NUMBER: 'number',
  BOOLEAN: 'boolean',
  DATE: 'date',
  DATETIME: 'datetime',
  URL: 'link',
};
