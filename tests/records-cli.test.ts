import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestDatabase } from '../plugins/apps/server/src/records/test-databases';
import { createTestDatabase } from './support/databases';
import { fixtureThemes } from './support/theme';

const root = path.resolve(__dirname, '..');
let folder: string;
let database: TestDatabase;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'apps-cli-'));
  database = await createTestDatabase('sqlite', { table: false });
});
afterAll(async () => {
  await database.destroy();
  await rm(folder, { recursive: true });
});

/** Runs the command line to its end. */
async function apps(...args: string[]): Promise<{ code: number | null; out: string; err: string }> {
  const env = {
    ...process.env,
    ...database.place.env,
    APPS_THEMES_DIRECTORY: fixtureThemes,
    APPS_THEME: 'main',
    SERVE_ADMIN: 'false',
  };
  const child = spawn(process.execPath, [path.join(root, 'scripts', 'apps.mjs'), ...args], { cwd: root, env });
  let [out, err] = ['', ''];
  child.stdout.on('data', (text) => {
    out += text;
  });
  child.stderr.on('data', (text) => {
    err += text;
  });
  const code = await new Promise<number | null>((done) => child.once('close', done));
  return { code, out, err };
}

const lines = (records: object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('');
const many = Array.from({ length: 2_345 }, (_, at) => ({
  id: `r/${at}`,
  creator: at % 2 ? 'user:7' : null,
  items: {
    n: at,
    text: `"${at}",\n=${at}`,
    list: [at, null, { a: '' }],
    ...(at % 3 ? {} : { number: String(at), none: null }),
  },
}));
const at = (name: string) => path.join(folder, name);

test('records go in and out as NDJSON and CSV and are the same', async () => {
  await writeFile(at('in.ndjson'), lines(many));
  const imported = await apps('import', 'site', 'open', at('in.ndjson'));
  expect([imported.code, imported.out], imported.err).toEqual([0, expect.stringContaining('2345 records imported')]);
  expect(imported.err).toContain('100 %');

  expect(await apps('export', 'site', 'open', at('out.ndjson'))).toMatchObject({ code: 0 });
  expect(await readFile(at('out.ndjson'), 'utf8')).toBe(lines(many));

  expect(await apps('export', 'site', 'open', at('out.csv'))).toMatchObject({ code: 0 });
  expect((await apps('import', 'site', 'search', at('out.csv'))).out).toContain('2345 records imported');
  expect(await apps('export', 'site', 'search', at('again.ndjson'))).toMatchObject({ code: 0 });
  expect(await readFile(at('again.ndjson'), 'utf8')).toBe(lines(many.map((record) => ({ ...record, creator: null }))));
}, 180_000);

test('an import can be run again; other items under a known id stop it', async () => {
  await writeFile(at('more.ndjson'), lines([{ id: 'new', items: {} }, ...many.slice(0, 10)]));
  expect((await apps('import', 'site', 'open', at('more.ndjson'))).out).toContain('1 records imported, 10 that were');
  await writeFile(at('other.ndjson'), lines([{ id: 'r/5', n: 'other' }]));
  const refused = await apps('import', 'site', 'open', at('other.ndjson'));
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('"r/5" is there already, with other items')]);
}, 180_000);

test('says what is wrong', async () => {
  expect(await apps('export', 'site')).toMatchObject({ code: 2, err: expect.stringContaining('Usage') });
  expect(await apps('export', 'site', 'none', at('x'))).toMatchObject({
    code: 1,
    err: expect.stringContaining('no app "none"'),
  });
  await writeFile(at('broken.ndjson'), '{"id":"b1"}\n{"id":');
  expect(await apps('import', 'site', 'open', at('broken.ndjson'))).toMatchObject({
    code: 1,
    err: expect.stringContaining('Line 2 is not JSON'),
  });
}, 180_000);

test('check finds nothing wrong, and says so', async () => {
  expect(await apps('check')).toMatchObject({ code: 0, out: expect.stringContaining(' 0 wrong') });
}, 60_000);
