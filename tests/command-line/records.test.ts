import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, test } from 'vitest';
import { runCli, runReused } from '../support/command-line';
import { availableClients, type Client } from '../support/databases';
import { useDatabase } from '../support/hooks';
import { hostEnvironment, useTemporaryHost } from '../support/temporary-host';

const at = useTemporaryHost('records');

const lines = (records: object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('');
const numbered = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`=n${at}`, at]));
const many = Array.from({ length: 2_345 }, (_, at) => ({
  id: `r/${at}`,
  creator: at % 2 ? 'user:7' : null,
  items: {
    n: at,
    text: `"${at}",\n=${at}`,
    list: [at, null, { a: '' }],
    ...(at % 3 ? {} : { number: String(at), none: null }),
    ...(at === 7 ? { digits: '1234567890123456789', formula: '=1;＋1', ...numbered(900) } : {}),
  },
}));

/** Runs commands in the host, on a database of this kind; as npm starts them, or in a process that is used again. */
function commandsOn(client: Client, start: typeof runCli, database = useDatabase(client, { table: false })) {
  return async (...args: string[]) => {
    const { env } = database().address;
    const { code, out, err } = await start(args, { cwd: at(), env: { ...hostEnvironment, ...env } });
    return { code, out, err, json: args.includes('--json') ? JSON.parse(out) : undefined };
  };
}

describe.each((await availableClients()).filter((client) => client === 'postgres'))('on %s', (client) => {
  const run = commandsOn(client, runCli);

  test('records are equal after import and export', async () => {
    await writeFile(at('in.ndjson'), lines(many));
    const imported = await run('import', 'site', 'open', 'in.ndjson', '--json');
    expect([imported.code, imported.json], imported.err).toEqual([0, { imported: 2_345, skipped: 0 }]);
    expect(imported.err).toContain('100 %');
    const exported = await run('export', 'site', 'open', 'out.ndjson');
    expect(exported).toMatchObject({ code: 0, out: expect.stringContaining('2345 records exported') });
    expect(await readFile(at('out.ndjson'), 'utf8')).toBe(lines(many));
  }, 180_000);
});

describe('records', () => {
  const database = useDatabase('sqlite', { table: false });
  const run = commandsOn('sqlite', runReused, database);

  test('are equal after import and export as CSV', async () => {
    await writeFile(at('all.ndjson'), lines(many));
    expect(await run('import', 'site', 'open', 'all.ndjson')).toMatchObject({ code: 0 });
    expect((await run('export', 'site', 'open', 'all.csv', '--json')).json).toEqual({
      records: 2_345,
      file: at('all.csv'),
    });
    const [head = ''] = (await readFile(at('all.csv'), 'utf8')).split('\r\n');
    expect(head.split(',')).toHaveLength(202);
    expect((await run('import', 'site', 'search', 'all.csv')).out).toContain('2345 records imported');
    expect(await run('export', 'site', 'search', 'again.ndjson')).toMatchObject({ code: 0 });
    expect(await readFile(at('again.ndjson'), 'utf8')).toBe(
      lines(many.map((record) => ({ ...record, creator: null }))),
    );
  }, 180_000);

  const unnamed = Array.from({ length: 1_000 }, (_, at) => ({ at }));
  test.each<[what: string, records: object[], error: string, summary: string, stored: number]>([
    [
      'other items under a known id',
      [{ id: 'new', items: {} }, ...many.slice(0, 5), { id: 'r/5', n: 'other' }],
      'The record "r/5" is there already, with other items',
      '0 records imported before that; the import can be run again',
      0,
    ],
    [
      'other items under a known id, behind records without an id',
      [...unnamed, { id: 'r/5', n: 'other' }],
      'The record "r/5" is there already, with other items',
      '1000 records imported before that; 1000 of them have no id in the file, and another import would create them once more',
      1_000,
    ],
    [
      'an id that comes again in another part',
      [{ id: 'two', block: 'counted', amount: 1 }, ...unnamed, { id: 'two', block: 'counted', amount: 2 }],
      'The id "two" is in the file twice',
      '0 records imported before that; the import can be run again',
      0,
    ],
    [
      'a line that is no record, behind a thousand others',
      [...unnamed, []],
      'Line 1001 is not an object',
      '0 records imported before that; the import can be run again',
      0,
    ],
  ])(
    'an import stops at %s',
    async (_, records, error, summary, stored) => {
      const { knex } = database();
      const count = async () => Number((await knex('apps_records').where({ app: 'open' }).count('* as n'))[0]?.n);
      const before = await count();
      await writeFile(at('more.ndjson'), lines(records));
      const { code, err, json } = await run('import', 'site', 'open', 'more.ndjson', '--json');
      expect([code, json.error, (await count()) - before]).toEqual([1, error, stored]);
      expect(err).toContain(summary);
    },
    180_000,
  );

  test('an import of records with ids can be run again', async () => {
    await writeFile(at('more.ndjson'), lines([{ id: 'new', items: {} }, ...many.slice(0, 10)]));
    expect((await run('import', 'site', 'open', 'more.ndjson')).out).toContain('1 records imported, 10 skipped');
  }, 180_000);

  test('of a block pass its rules, all before the first is stored; an export is restored without them', async () => {
    const counted = (id: string, amount: unknown, more: object = {}) => ({ id, block: 'counted', amount, ...more });
    const importOf = async (records: object[], ...options: string[]) => {
      await writeFile(at('counted.ndjson'), lines(records));
      return (await run('import', 'site', 'open', 'counted.ndjson', '--json', ...options)).json;
    };
    expect(await importOf([counted('c1', 4), counted('c2', 'four')])).toEqual({
      imported: 0,
      skipped: 0,
      error: 'Record 2 of the file: Some fields are not right. Nothing was stored.\n  amount: Please enter a number.',
    });
    // What the server has set makes no difference, nor does the type in which an input takes its value.
    expect(await importOf([counted('c1', '4')])).toEqual({ imported: 1, skipped: 0 });
    expect(await importOf([counted('c1', '4'), counted('c2', 5)])).toEqual({ imported: 1, skipped: 1 });
    expect(await importOf([counted('c1', 6)])).toMatchObject({
      imported: 0,
      error: expect.stringContaining('"c1" is there already'),
    });
    const kept = counted('c3', 1, { double: 7, born: 'before' });
    expect(await importOf([kept], '--restore')).toEqual({ imported: 1, skipped: 0 });
    const old = { id: 'old', ...numbered(1_200) };
    expect(await importOf([old])).toMatchObject({
      imported: 0,
      error: expect.stringContaining('at most 1000 items'),
    });
    expect(await importOf([old], '--restore')).toEqual({ imported: 1, skipped: 0 });
    expect(await run('export', 'site', 'open', 'counted.ndjson')).toMatchObject({ code: 0 });
    const exported = (await readFile(at('counted.ndjson'), 'utf8'))
      .split('\n')
      .filter((line) => line.includes('counted'));
    expect(exported.map((line) => JSON.parse(line).items)).toEqual([
      { block: 'counted', amount: 4, double: 8, born: 'at 4', saves: 1 },
      { block: 'counted', amount: 5, double: 10, born: 'at 5', saves: 1 },
      { block: 'counted', amount: 1, double: 7, born: 'before' },
    ]);
  }, 180_000);

  test.each<[file: string, text: string]>([
    ['latin.ndjson', '{"id":"latin","t":"\u00e9"}\n'],
    ['latin.csv', 'id,t\nlatin,\u00e9\n'],
  ])(
    'of %s, which is not UTF-8, are not imported',
    async (file, text) => {
      await writeFile(at(file), Buffer.from(text, 'latin1'));
      expect(await run('import', 'site', 'open', file, '--json')).toMatchObject({
        code: 1,
        json: { imported: 0, error: expect.stringContaining('The file is not UTF-8: save it as') },
      });
    },
    60_000,
  );

  test('of tables that spreadsheets write are imported as they were meant', async () => {
    const importOf = async (file: string, content: string | Buffer, ...options: string[]) => {
      await writeFile(at(file), content);
      return (await run('import', 'site', 'open', file, '--json', ...options)).json;
    };
    expect(
      await importOf('de.csv', 'ID;Amount\r\n;\r\nt1;1,5\r\n007;1.000\r\n', '--block', 'counted', '--language', 'de'),
    ).toEqual({
      imported: 2,
      skipped: 0,
    });
    const latin = Buffer.from('id,name,zip\nt2,Müller,01067\nt3,5" disk,10115\n', 'latin1');
    expect(await importOf('latin.csv', latin, '--encoding', 'windows-1252')).toEqual({ imported: 2, skipped: 0 });
    expect(await importOf('wrong.csv', 'block,amount\ncounted,1\ncounted,"1,234"\n')).toMatchObject({
      imported: 0,
      error: expect.stringMatching(/^Row 3, column "amount": "1,234" .*choose the language/),
    });
    expect(await run('import', 'site', 'open', 'de.csv', '--separator', ';')).toMatchObject({
      code: 2,
      err: expect.stringMatching(
        /--separator <name>' argument ';' is invalid\. Allowed choices are comma, semicolon, tab/,
      ),
    });
    expect(await run('export', 'site', 'open', 'all.xlsx')).toMatchObject({ code: 0 });
    expect((await run('import', 'site', 'open', 'all.xlsx', '--json')).json).toMatchObject({ imported: 0 });
    expect((await run('export', 'site', 'open', 'again.ndjson')).code).toBe(0);
    const kept = (await readFile(at('again.ndjson'), 'utf8'))
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    expect(
      kept.filter(({ id }) => /^(t\d|007)$/.test(id)).map(({ id, items }) => [id, items.amount ?? items.zip]),
    ).toEqual([
      ['t1', 1.5],
      ['007', 1000],
      ['t2', '01067'],
      ['t3', '10115'],
    ]);
  }, 180_000);

  test('that come from a pipe are checked and imported', async () => {
    const pipe = at('pipe');
    execFileSync('mkfifo', [pipe]);
    const importOf = async (records: object[]) => {
      const [{ json }] = await Promise.all([
        run('import', 'site', 'open', 'pipe', '--json'),
        writeFile(pipe, lines(records)),
      ]);
      return json;
    };
    const piped = Array.from({ length: 1_500 }, (_, at) => ({ id: `piped/${at}`, block: 'counted', amount: at }));
    expect(await importOf([...piped, { id: 'last', block: 'counted', amount: 'x' }])).toMatchObject({
      imported: 0,
      error: expect.stringContaining('Record 1501 of the file'),
    });
    expect(await importOf(piped)).toEqual({ imported: 1_500, skipped: 0 });
  }, 180_000);

  test('are indexed again and compared', async () => {
    expect((await run('reindex', 'site', 'search', '--rebuild', '--json')).json).toEqual({
      indexes: expect.arrayContaining(['id']),
    });
    expect(await run('check', '--json')).toMatchObject({
      code: 0,
      json: { wrong: 0, orphanTables: 0, repaired: false },
    });
  }, 60_000);

  test('that lack index rows are found and repaired', async () => {
    const { knex } = database();
    const tables = await knex('sqlite_master')
      .where({ type: 'table' })
      .where('name', 'like', 'apps_index%')
      .pluck('name');
    const sizes = await Promise.all(tables.map(async (name) => [name, (await knex(name)).length] as const));
    const [rows = ''] = sizes.find(([, size]) => size === many.length) ?? [];
    await knex(rows).delete();
    expect((await run('check', '--json')).json).toMatchObject({ wrong: many.length, repaired: false });
    expect(await run('check', '--repair')).toMatchObject({
      code: 0,
      out: expect.stringContaining(`${many.length} wrong, 0 orphaned index tables: repaired`),
    });
  }, 60_000);

  test('have an OpenAPI document', async () => {
    const { code, json } = await run('openapi', '--json');
    expect(code).toBe(0);
    expect(Object.keys(json.paths)).toEqual(expect.arrayContaining(['/open/records', '/search/search']));
    expect(await new Validator().validate(json)).toMatchObject({ valid: true });
    expect((await run('openapi', 'site', 'open', 'open.json')).out).toMatch(/\d+ operations written to/);
    expect(Object.keys(JSON.parse(await readFile(at('open.json'), 'utf8')).paths)).toContain('/open');
  }, 60_000);

  test.each<[args: string[], message: RegExp]>([[['export', 'site', 'none', 'x'], /no app "none" in a site "site"/]])(
    '%j cannot run',
    async (args, message) => {
      expect(await run(...args)).toMatchObject({ code: 2, err: expect.stringMatching(message) });
    },
  );

  test.each<[args: string[], message: RegExp]>([
    [['export', 'site'], /missing required argument 'target'/],
    [['export', 'site', 'open'], /no file for the records/],
    [['export', 'site', 'open', 'x.zip'], /as NDJSON or CSV/],
    [['import', 'site', 'open'], /file is missing/],
    [['import', 'site', 'open', 'missing.csv'], /cannot be read/],
    [['import', 'site', 'open', '.'], /cannot be read: EISDIR/],
    [['reindex', 'site'], /missing required argument 'app'/],
  ])('%j is wrong, and starts nothing', async (args, message) => {
    expect(await run(...args)).toMatchObject({ code: 2, err: expect.stringMatching(message) });
  });
});
