import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  chaining,
  type Form,
  type IndexType,
  type OperatorSyntax,
  operators,
  operatorsWith,
} from '../../../../shared/query/operators';
import { isFreeWord } from '../../../../shared/query/parse';
import { searchProblem } from './search';

const all = Object.entries<OperatorSyntax>(operators);
const types: IndexType[] = ['field', 'text', 'keyword'];

/** The syntax of an operator on the reference page. */
const written: Record<Form, (name: string) => string> = {
  comparison: (name) => `index ${name} value`,
  membership: (name) => `value ${name} index`,
  list: (name) => `index ${name} (value, …)`,
};

/** The table of operators in docs/reference/search.md, as Markdown. */
function operatorReference(): string {
  const rows = all.map(([name, { form, on, doc }]) => {
    const taken = types.filter((type) => on.includes(type)).map((type) => `\`${type}\``);
    return `| \`${written[form](name)}\` | ${taken.join(', ')} | ${doc} |`;
  });
  return ['| Written | Index types | Finds the records |', '|---|---|---|', ...rows].join('\n');
}

/** The grammar's rule of a comparison. */
function comparisonRule(): string {
  const oneOf = (names: readonly string[]) => {
    const quoted = names.map((name) => `"${name}"`).join(' | ');
    return names.length === 1 ? quoted : `(${quoted})`;
  };
  const chained = oneOf(chaining);
  const lists = operatorsWith('membership').map((word) => {
    const modes = operatorsWith('list').filter((name) => name.startsWith(`${word} `));
    return `index ["not"] "${word}" ${oneOf(modes.map((name) => name.slice(word.length + 1)))} "(" list-or-name ")"`;
  });
  const ways = [
    `index ${oneOf(operatorsWith('comparison'))} value`,
    `value ${chained} index ${chained} value`,
    `value ["not"] ${oneOf(operatorsWith('membership'))} index`,
    ...lists,
  ];
  return `comparison = ${ways.join('\n           | ')} ;`;
}

const page = '../../../../../../docs/reference/search.md';

test.each([
  ...['and', 'or', 'not', 'in', 'true', 'True', 'false', 'False', 'null', 'None', '2024', '1e5', '1.'],
  ...['any', 'all', 'words', 'nothing', 'is', 'IN', 'undefined', 'toString', '2024-01', '1a', 'a.b', '_'],
])('whether a query can name an index: %s', (name) => {
  const find = () => searchProblem(new Map([[name, 'field']]), { query: `${name} == 1 or 1 == ${name}` }, false);
  expect(isFreeWord(name)).toBe(find() === null);
});

test('the reference page of search has the table and the rule of the operators', async () => {
  const old = readFileSync(join(__dirname, page), 'utf8');
  const made = old
    .replace(/^comparison = [^;]*;$/m, () => comparisonRule())
    .replace(/^\| Written \|.*(\n\|.*)*/m, () => operatorReference());
  await expect(made).toMatchFileSnapshot(page);
});
