import type { IndexType } from '../types';
import { operators } from './operators';
import type { Form, Operator } from './operators/types';

const all = Object.entries<Operator>(operators);
const types: IndexType[] = ['field', 'text', 'keyword'];

/** The syntax of an operator on the reference page. */
const written: Record<Form, (name: string) => string> = {
  comparison: (name) => `index ${name} value`,
  membership: (name) => `value ${name} index`,
  list: (name) => `index ${name} (value, …)`,
};

/** The table of operators in docs/reference/search.md, as Markdown. */
export function operatorReference(): string {
  const rows = all.map(([name, { form, on, doc }]) => {
    const taken = types.filter((type) => on[type]).map((type) => `\`${type}\``);
    return `| \`${written[form](name)}\` | ${taken.join(', ')} | ${doc} |`;
  });
  return ['| Written | Index types | Finds the records |', '|---|---|---|', ...rows].join('\n');
}

/** The grammar's rule of a comparison. */
export function comparisonRule(): string {
  const namesOf = (form: Form) => all.filter(([, row]) => row.form === form).map(([name]) => name);
  const oneOf = (names: readonly string[]) => {
    const quoted = names.map((name) => `"${name}"`).join(' | ');
    return names.length === 1 ? quoted : `(${quoted})`;
  };
  const chaining = oneOf(all.filter(([, { chains }]) => chains).map(([name]) => name));
  const lists = namesOf('membership').map((word) => {
    const modes = namesOf('list').filter((name) => name.startsWith(`${word} `));
    return `index ["not"] "${word}" ${oneOf(modes.map((name) => name.slice(word.length + 1)))} "(" list-or-name ")"`;
  });
  const ways = [
    `index ${oneOf(namesOf('comparison'))} value`,
    `value ${chaining} index ${chaining} value`,
    `value ["not"] ${oneOf(namesOf('membership'))} index`,
    ...lists,
  ];
  return `comparison = ${ways.join('\n           | ')} ;`;
}
