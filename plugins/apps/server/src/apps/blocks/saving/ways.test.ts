import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Sender, senders, type Way, ways } from './checked-items';

const root = join(__dirname, '../../../../../../..');
const page = join(root, 'docs/reference/rules.md');

const titles: Record<keyof typeof senders, string> = {
  form: 'a form',
  jsonForm: 'a form as JSON',
  client: 'a client',
  logic: 'logic',
};

const words = {
  inputs: { shown: 'that the layout shows', declared: 'that the block declares' },
  others: { ignored: 'not read', refused: 'left out; in a strict app 422', taken: 'taken' },
  files: { sent: 'sent with the form', own: 'of the app, in the media library', any: 'any' },
  guard: { always: 'yes', strict: 'in a strict app', never: '' },
} as const;

const table = (head: string[], rows: string[][]) =>
  `| ${head.join(' | ')} |\n|${'---|'.repeat(head.length)}\n${rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}`;

const tableOfWays = () =>
  table(
    ['Way in', 'Sender', 'Right', 'Closed by `json`'],
    Object.values<Way>(ways).map(({ title, sender, right, json }) => [
      title,
      titles[sender],
      right ?? '',
      json ? 'yes' : '',
    ]),
  );

const tableOfSenders = () =>
  table(
    ['Sender', 'Inputs that are checked', 'Other items', 'Files', 'Guard', '`notify`'],
    Object.entries<Sender>(senders).map(([name, { inputs, others, files, guard, notifies }]) => [
      titles[name as keyof typeof senders],
      words.inputs[inputs],
      words.others[others],
      words.files[files],
      words.guard[guard],
      notifies ? 'yes' : '',
    ]),
  );

test('the page about rules has the table of ways and of senders', async () => {
  const made = readFileSync(page, 'utf8')
    .replace(/^\| Way in \|.*(\n\|.*)*/m, tableOfWays)
    .replace(/^\| Sender \|.*(\n\|.*)*/m, tableOfSenders);
  await expect(made).toMatchFileSnapshot(page);
});

/** The text of a test file and of its modules, in the folder of the same name. */
function textOf(file: string): string {
  const path = join(root, file);
  const folder = path.replace(/\.test\.ts$/, '');
  const modules = readdirSync(join(folder, '..')).includes(folder.split('/').at(-1) ?? '') ? readdirSync(folder) : [];
  return [path, ...modules.map((name) => join(folder, name))].map((one) => readFileSync(one, 'utf8')).join('\n');
}

test('the tests that the page about rules names exist', () => {
  const named = [...readFileSync(page, 'utf8').matchAll(/`(tests\/[^`]+\.test\.ts)` › "([^"]+)"/g)];
  expect(named.length).toBeGreaterThan(20);
  for (const [, file = '', title = ''] of named) expect(textOf(file), `${file} › ${title}`).toContain(`'${title}'`);
});
