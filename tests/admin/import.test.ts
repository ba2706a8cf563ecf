import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { beforeEach, describe, expect, test } from 'vitest';
import type { ImportPreview, ImportState } from '../../plugins/apps/shared/admin-api';
import { useStage, useThemes } from '../support/hooks';

const themes = useThemes({
  'main/apps/shelf/blocks/book.yaml':
    'elements:\n  title: { type: TEXT, index_type: field }\n  pages: { type: NUMBER, label: Number of pages }\n  lent: DATE\n',
  'main/apps/shelf/blocks/book.js':
    'export function on_save(context) {\n  if (context.record.get("title") === "bad") throw new Error("not this one");\n}\n',
});
const stage = useStage(() => ({ themesDirectory: themes.directory }));
const app = '/apps/sites/site/apps/shelf';

beforeEach(() => stage.send({ as: 'mona', send: 'DELETE shelf/records' }));

interface Sent {
  name?: string;
  mapping?: unknown;
  as?: string;
  /** What else is chosen about the file. */
  choices?: object;
}

/** Sends a file as the panel does. */
function send<T>(
  path: string,
  text: string | Buffer,
  { name = 'records.csv', mapping = {}, as = 'clerk', choices = {} }: Sent = {},
) {
  const options = JSON.stringify({ name, mapping, ...choices });
  const head = `--b\r\nContent-Disposition: form-data; name="options"\r\n\r\n${options}\r\n--b\r\nContent-Disposition: form-data; name="files"; filename="x"\r\nContent-Type: text/csv\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(head), Buffer.from(text), Buffer.from('\r\n--b--\r\n')]);
  return stage.send<T>({
    as,
    send: `POST ${app}/records/${path}`,
    body,
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
  });
}

const preview = async (text: string | Buffer, options?: Sent) =>
  (await send<ImportPreview>('import/preview', text, options)).json;

async function imported(text: string | Buffer, options?: Sent): Promise<ImportState> {
  const answer = await send<ImportState>('import', text, options);
  expect(answer.status, answer.text).toBe(202);
  return ended();
}

/** The state of the import, once it runs no more. */
async function ended(): Promise<ImportState> {
  const state = async () => (await stage.send<ImportState>({ as: 'clerk', send: `GET ${app}/records/import` })).json;
  await expect.poll(async () => (await state()).state).not.toBe('running');
  return state();
}

const stored = async () => {
  const { json } = await stage.send<{ items: { id: string } }[]>({ as: 'mona', send: 'GET shelf/records' });
  return json.map(({ items }) => items);
};
const exported = async (format: string, query = '') =>
  stage.send({ as: 'overseer', send: `GET ${app}/records/export?format=${format}${query}`, accept: '*/*' });

describe('a preview', () => {
  test('names the columns, the first records, and the mistakes by line', async () => {
    await stage.put('shelf', 'taken', {});
    const text = 'id,Title,n\na,One,1\n7,Two,"{""x"":1}"\na,Three,\ntaken,,\nx,y\n';
    expect(await preview(text, { mapping: { Title: 'title', n: null } })).toEqual({
      format: 'csv',
      separator: 'comma',
      encoding: 'utf-8',
      sheets: [],
      records: 2,
      columns: [
        { name: 'id', example: 'a', item: 'id', kind: 'text' },
        { name: 'Title', example: 'One', item: 'title', kind: 'text' },
        { name: 'n', example: '1', item: null, kind: null },
      ],
      first: [
        { id: 'a', items: { title: 'One' } },
        { id: '7', items: { title: 'Two' } },
      ],
      problems: [
        { line: 4, message: 'The id "a" is in the file twice' },
        { line: 5, message: 'There is a record "taken" already' },
        { line: 6, message: 'Row 6 has 2 cells, not 3' },
      ],
      wrong: 3,
    });
    expect(await stored()).toHaveLength(1);
  });

  test.each<[what: string, line: string, message: RegExp]>([
    ['no JSON', '{"a":', /Line 2 is not JSON/],
    ['a list', '[1]', /not an object/],
    ['a number that would change', '{"n":9007199254740993}', /The number 9007199254740993 at position 5/],
    ['a number that would be 0', '{"n":1e-999}', /The number 1e-999/],
    ['a number as id', '{"id":3}', /id is not a string/],
    ['an empty id', '{"id":""}', /must not be empty/],
    ['a long id', JSON.stringify({ id: 'x'.repeat(256) }), /at most 255/],
    ['a control character', '{"id":"\\u0000"}', /control/],
    ['an unknown block', '{"block":"none"}', /no block "none"/],
    ['a block that is no name', '{"block":{"a":1}}', /no block/],
    ['deep nesting', `{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`, /nested/],
  ])('%s is a mistake of its line', async (_, line, message) => {
    const { problems, records } = await preview(`{"id":"ok"}\n${line}\n`, { name: 'x.ndjson' });
    expect([records, problems]).toEqual([1, [{ line: 2, message: expect.stringMatching(message) }]]);
  });

  test.each<[what: string, text: string | Buffer, options: Sent, message: RegExp]>([
    ['bytes that are not UTF-8', Buffer.from([0x61, 0xff, 0x0a]), {}, /not UTF-8/],
    ['an open quote', 'id\n"a', {}, /not closed/],
    ['two columns for one item', 'a,b\n1,2\n', { mapping: { a: 'x', b: 'x' } }, /Two columns/],
    ['a mapping that is a list', 'a\n1\n', { mapping: [1] }, /mapping/],
    ['an item without a name', 'a\n1\n', { mapping: { a: '' } }, /mapping/],
  ])('%s is a 400', async (_, text, options, message) => {
    for (const path of ['import/preview', 'import']) {
      const answer = await send<{ error: { message: string } }>(path, text, options);
      expect([answer.status, answer.json.error.message]).toEqual([400, expect.stringMatching(message)]);
    }
    expect(await stored()).toEqual([]);
  });

  test('shows how a table of a spreadsheet is read, and what has to be chosen', async () => {
    const text = 'sep=;\r\n Title ;Number of pages;lent\r\n;;\r\n01067;1.234;03/01/2026\r\n';
    const block = 'book';
    expect(await preview(text, { choices: { block } })).toMatchObject({
      separator: 'semicolon',
      columns: [
        { name: 'Title', item: 'title', kind: 'text' },
        { name: 'Number of pages', item: 'pages', kind: 'number' },
        { name: 'lent', item: 'lent', kind: 'date' },
      ],
      problems: [{ line: 4, message: expect.stringMatching(/"Number of pages": "1.234" .*choose the language/) }],
    });
    const choices = { block, language: 'fr', separator: 'semicolon' };
    expect((await preview(text.replace('1.234', '1 234,5'), { choices })).first).toEqual([
      { id: null, items: { block, title: '01067', pages: 1234.5, lent: '2026-01-03' } },
    ]);
    const latin = Buffer.from('title\nMüller\n', 'latin1');
    expect(await preview(latin, { choices: { encoding: 'windows-1252' } })).toMatchObject({
      first: [{ items: { title: 'Müller' } }],
    });
  });

  test.each<[what: string, choices: object, message: RegExp]>([
    ['an unknown separator', { separator: ';' }, /"separator" must be "comma", "semicolon" or "tab"/],
    ['an unknown language', { language: '??' }, /is no language/],
    ['an unknown encoding', { encoding: 'latin9' }, /"encoding" must be one of/],
  ])('of %s is a 400', async (_, choices, message) => {
    const { status, json } = await send<{ error: { message: string } }>('import/preview', 'id\na\n', { choices });
    expect([status, json.error.message]).toEqual([400, expect.stringMatching(message)]);
  });

  test('without a file it is a 400, and with `read` alone a 403', async () => {
    expect((await stage.send({ as: 'clerk', send: `POST ${app}/records/import`, json: {} })).status).toBe(400);
    expect((await send('import', 'id\na\n', { as: 'overseer' })).status).toBe(403);
  });
});

describe('an import', () => {
  test('stores all records', async () => {
    const lines = Array.from({ length: 1_234 }, (_, n) => JSON.stringify({ id: `r${n}`, n }));
    expect(await imported(lines.join('\n'), { name: 'x.ndjson' })).toMatchObject({
      state: 'done',
      done: 1_234,
      total: 1_234,
    });
    expect(await stored()).toHaveLength(1_234);
  });

  test('stores none when the logic of a block fails, and names the line', async () => {
    const text = 'block,title\nbook,good\n\nbook,bad\nbook,good\n';
    expect(await imported(text)).toMatchObject({
      state: 'failed',
      line: 4,
      message: expect.stringMatching(/not this one/),
    });
    expect(await stored()).toEqual([]);
  });

  test('is refused with a mistake in any line', async () => {
    const answer = await send<{ error: { details: object } }>('import', '{"id":"a"}\n{', { name: 'a.ndjson' });
    expect([answer.status, answer.json.error.details]).toMatchObject([400, { wrong: 1, problems: [{ line: 2 }] }]);
    expect(await stored()).toEqual([]);
  });

  test('is refused while another one into the app runs, also when both are sent at once', async () => {
    const text = `block,title\n${'book,good\n'.repeat(1_000)}`;
    const answers = await Promise.all([send('import', text), send('import', text)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409]);
    expect(await ended()).toMatchObject({ state: 'done', done: 1_000 });
  });

  test('leaves no file behind', async () => {
    const uploads = async () => (await readdir(tmpdir())).filter((name) => /^[0-9a-z]{25}$/.test(name)).length;
    const before = await uploads();
    await preview('id\na\n');
    await imported('id\na\n');
    await send('import', '"');
    await expect.poll(uploads).toBeLessThanOrEqual(before);
  });
});

describe('an export', () => {
  const items = {
    text: '=HYPERLINK("x")',
    quoted: "'=1",
    number: -5,
    list: [1, { a: '"' }],
    empty: '',
    line: 'a\nb',
    truth: 'true',
    small: -1e-7,
    digits: '1234567890123456789',
    separated: 'a;=1\n+2\t＠3',
    '=name': '－1',
  };
  /** More items than a table has columns. */
  const wide = Object.fromEntries(Array.from({ length: 900 }, (_, at) => [`n${at}`, at % 2 ? at : `=${at}`]));

  test.each([
    ['csv', 'csv'],
    ['csv', 'csv&separator=semicolon'],
    ['csv', 'csv&separator=tab'],
    ['xlsx', 'xlsx'],
    ['ndjson', 'ndjson'],
  ])('as %s can be imported without loss: %s', async (format, asked) => {
    await stage.put('shelf', 'a', items);
    await stage.put('shelf', '5', { other: null });
    await stage.put('shelf', 'wide', wide);
    const { status, headers, bytes } = await exported(asked);
    expect([status, headers['content-disposition']]).toEqual([200, `attachment; filename="shelf.${format}"`]);
    await stage.send({ as: 'mona', send: 'DELETE shelf/records' });
    await imported(bytes, { name: `x.${format}` });
    expect(await stored()).toEqual([
      { ...items, id: 'a' },
      { other: null, id: '5' },
      { ...wide, id: 'wide' },
    ]);
  });

  test('as CSV begins with the declared items; the last column has what gets no other', async () => {
    await stage.put('shelf', 'wide', { ...wide, title: 'x' });
    const head = (await exported('csv')).text.split('\r\n')[0]?.split(',');
    expect([head?.length, head?.slice(0, 3), head?.at(-1)]).toEqual([203, ['\ufeffid', 'title', 'n0'], '(more)']);
  });

  test('as CSV has no formula', async () => {
    await stage.put('shelf', 'a', items);
    const { text } = await exported('csv');
    expect(text).toContain(`"'=HYPERLINK(""x"")"`);
    expect(text).not.toMatch(/(^|[,;\t])"*[=＝＠－]/m);
  });

  test('holds what a query finds', async () => {
    for (const title of ['one', 'two']) await stage.put('shelf', title, { title });
    const { text } = await exported('ndjson', `&query=${encodeURIComponent("title == 'two'")}`);
    expect(
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).id),
    ).toEqual(['two']);
    expect((await exported('ndjson', '&query=two')).text).toContain('"two"');
    expect((await exported('csv', '&query=size%20%3E%203')).status).toBe(400);
    expect((await exported('xls')).status).toBe(400);
  });

  test('holds more than one answer of a search may', async () => {
    const lines = Array.from({ length: 20 }, (_, n) => JSON.stringify({ id: `r${n}`, title: 'x'.repeat(900_000) }));
    await imported(lines.join('\n'), { name: 'x.ndjson' });
    const { status, text } = await exported('ndjson', `&query=${encodeURIComponent("title > 'a'")}`);
    expect(status).toBe(200);
    expect(text.trim().split('\n')).toHaveLength(20);
  });
});
