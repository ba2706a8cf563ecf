import { readFile, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { runReused } from '../support/command-line';
import { useDatabase, useThemes } from '../support/hooks';
import { hostEnvironment, useTemporaryHost } from '../support/temporary-host';
import { ruleApps } from './ways/apps';
import { right } from './ways/rules';

/** The built command `import` (docs/reference/import-export.md#records-by-command-line); its other rules are in ways.test.ts. */
const themes = useThemes(async (copy) => {
  for (const [file, text] of Object.entries(ruleApps)) await copy.write(`main/${file}`, text);
  await copy.write('main/apps/seats/blocks/seat.yaml', 'limit: 1500\nwaiting_list: true\nelements: { name: TEXT }');
  await copy.write('main/apps/seats/blocks/few.yaml', 'limit: 1500\nelements: { name: { type: TEXT, unique: true } }');
});
const at = useTemporaryHost('rules');
const database = useDatabase('sqlite', { table: false });

async function run(...args: string[]) {
  const env = { ...hostEnvironment, ...database().address.env, APPS_THEMES_DIRECTORY: themes.directory };
  const { code, out, err } = await runReused([...args, '--json'], { cwd: at(), env });
  expect(out, err).not.toBe('');
  return { code, json: JSON.parse(out) };
}

const { target: _, ...entry } = right;
const lines = (records: object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('');
const importedInto = async (app: string, records: object[], ...options: string[]) => {
  await writeFile(at('in.ndjson'), lines(records));
  return run('import', 'site', app, 'in.ndjson', ...options);
};
const imported = (records: object[], ...options: string[]) => importedInto('strict', records, ...options);

/** A record as an export has it: with what the server has set. */
const exported = {
  id: 'old',
  creator: 'user:7',
  items: { ...entry, stamp: 'old stamp', origin: 'there', state: 'sold' },
};

test('a record that breaks a rule is named with its fields, and nothing of the file is stored', async () => {
  expect(
    await imported([
      { id: 'fine', ...entry },
      { id: 'bad', ...entry, title: '', age: 3 },
    ]),
  ).toEqual({
    code: 1,
    json: {
      imported: 0,
      skipped: 0,
      error: expect.stringMatching(/Record 2 of the file: .*\n {2}title: .*\n {2}age: /),
    },
  });
  expect(await database().knex('apps_records')).toEqual([]);
}, 120_000);

test('an export is refused in a strict app for its computed items, and stored by --restore as it was', async () => {
  expect(await imported([exported])).toMatchObject({
    code: 1,
    json: { imported: 0, error: expect.stringMatching(/stamp: .*\n {2}origin: .*\n {2}state: /) },
  });
  expect(await imported([exported], '--restore')).toMatchObject({ code: 0, json: { imported: 1 } });
  const [row] = await database().knex('apps_records');
  expect([row.creator, JSON.parse(row.items)]).toEqual([exported.creator, exported.items]);
}, 120_000);

test('a file with more records than places is refused before its first record is stored, though it is checked in parts', async () => {
  const few = (at: number) => ({ id: `few${at}`, items: { block: 'few', name: `n${at % 1_499}` } });
  const seats = Array.from({ length: 1_501 }, (_, at) => ({ id: `s${at}`, items: { block: 'few' } }));
  expect(await importedInto('seats', seats)).toMatchObject({
    code: 1,
    json: { imported: 0, error: expect.stringMatching(/Record 1501 of the file: .*places are taken/) },
  });
  expect(
    await importedInto(
      'seats',
      Array.from({ length: 1_500 }, (_, at) => few(at)),
    ),
  ).toMatchObject({
    code: 1,
    json: { imported: 0, error: expect.stringMatching(/Record 1500 of the file: .*\n {2}name: /) },
  });
  expect(await importedInto('seats', [{ id: 'w', items: { block: 'seat', _state: 'waiting' } }])).toMatchObject({
    code: 1,
    json: { imported: 0, error: expect.stringContaining('_state: ') },
  });
  expect(await database().knex('apps_records').where({ app: 'seats' })).toEqual([]);
}, 120_000);

test('a waiting list comes back as it was exported', async () => {
  const waits = { id: 'w', creator: null, items: { block: 'seat', name: 'w', _state: 'waiting' } };
  expect(await importedInto('seats', [waits], '--restore')).toMatchObject({ json: { imported: 1 } });
  await run('export', 'site', 'seats', 'out.ndjson');
  expect(JSON.parse(await readFile(at('out.ndjson'), 'utf8'))).toMatchObject(waits);
}, 120_000);
