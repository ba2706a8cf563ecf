import { beforeEach, describe, expect, test } from 'vitest';
import type { Stage } from '../../support/stage';
import { runTable } from '../../support/table';
import { bomb } from './bomb';
import { requestsTo } from './requests';

const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

/** Tables that are sent, and tables that spreadsheets open. */
export function tables(stage: Stage): void {
  const { clear } = requestsTo(stage);

  describe('tables of spreadsheets', () => {
    beforeEach(() => clear('open'));

    const sent = (body: string | Buffer, query = '', type = 'text/csv') =>
      stage.send<{ error: { message: string; details: object } }>({
        as: 'mona',
        send: `POST open/records${query}`,
        body,
        headers: { 'content-type': type },
      });
    const stored = async () => {
      const { json } = await stage.send<{ items: object }[]>({ as: 'mona', send: 'GET open/records' });
      return json.map(({ items }) => items);
    };

    const müller = [{ id: 'b1', block: 'note', title: '01067', total: 1234.5, more: 'Müller' }];
    test.each<[what: string, body: string | Buffer, query: string, type: string]>([
      ['CSV', 'id,block,title,total,more\nb1,note,01067,1234.5,Müller\n', '', 'text/csv'],
      [
        'CSV of a German Excel',
        '\ufeffID;Title;TOTAL; more \r\n;;;\r\nb1;01067;1.234,5;Müller\r\n',
        '?block=note',
        'text/csv; charset=utf-8',
      ],
      [
        'CSV in Windows-1252',
        Buffer.from('sep=;\r\nid;title;total;more\r\nb1;01067;1.234,5;Müller\r\n', 'latin1'),
        '?block=note&language=de',
        'text/csv; charset=windows-1252',
      ],
      [
        'a table with tabs in UTF-16',
        Buffer.from('\ufeffid\ttitle\ttotal\tmore\nb1\t01067\t1 234,5\tMüller\n', 'utf16le'),
        '?block=note&language=fr&separator=tab',
        'text/tab-separated-values',
      ],
    ])('%s makes records', async (_, body, query, type) => {
      const { status, text } = await sent(body, query, type);
      expect([status, text]).toEqual([201, '{"total":1,"success":"created"}']);
      expect(await stored()).toEqual(müller);
    });

    test('the files of a listing and of a search open in spreadsheets, and come back', async () => {
      const table = 'id,block,title,total,more\n10,note,=1+1,0.5,"a ""b"""\n1E5,note,01067,-3,\n';
      expect((await sent(table)).status).toBe(201);
      const before = await stored();
      for (const file of ['records.xlsx', 'search.xlsx', 'records.csv', 'search.csv']) {
        const { status, headers, bytes } = await stage.send({ send: `GET open/${file}`, accept: 'text/html' });
        expect([status, headers['content-disposition']]).toEqual([
          200,
          `attachment; filename="open-${file.replace('.', '.')}"`,
        ]);
        expect(bytes.subarray(0, 2).toString('latin1')).toBe(file.endsWith('xlsx') ? 'PK' : '\u00ef\u00bb');
        await clear('open');
        const { text } = await sent(bytes, '', String(headers['content-type']));
        expect(text).toBe('{"total":2,"success":"created"}');
        expect(await stored(), file).toEqual(before);
      }
      const asked = await stage.send({ send: 'GET open/records', accept: XLSX });
      expect([asked.status, asked.headers['content-type']]).toEqual([200, XLSX]);
    });

    test('a wrong row makes nothing, and is named', async () => {
      const body = 'block,title,total\nnote,a,1\n\nnote,b,1234567890123456789\n';
      const { status, json } = await sent(body);
      expect([status, json.error.details]).toEqual([400, { line: 4 }]);
      expect(json.error.message).toMatch(
        /Row 4, column "total": The number 1234567890123456789 .* cannot be stored exactly: send it as a string/,
      );
      expect(await stored()).toEqual([]);
    });

    test('a text that no cell of XLSX holds is an error, and no half of a file', async () => {
      await stage.send({ as: 'mona', send: 'PUT open/record/long', json: { long: 'x'.repeat(40_000) } });
      const { status, json, headers } = await stage.send<{ error: object }>({ send: 'GET open/records.xlsx' });
      expect([status, json, headers['content-disposition']]).toMatchObject([
        400,
        { error: { message: expect.stringMatching(/"long" has 40000 characters/) } },
        undefined,
      ]);
    });

    test.each([
      ['2 GB, as its ZIP says', 2 * 1024 ** 3 + 800, /more than 64 MB of cells/],
      ['2 GB, of which its ZIP says nothing', 5_000, /./],
    ])('a workbook of %s is refused, and the server goes on', async (_, claimed, message) => {
      const memory = () => stage.host.run(() => process.memoryUsage().rss);
      const before = await memory();
      const bytes = bomb(claimed);
      expect(bytes.length).toBeLessThan(20 * 1024 ** 2);
      const answers = [sent(bytes, '', XLSX), sent(bytes, '', XLSX)];
      for (let at = 0; at < 5; at += 1) expect((await stage.send({ send: 'GET open/records' })).status).toBe(200);
      for (const { status, json } of await Promise.all(answers)) {
        expect(status).toBe(400);
        expect(json.error.message).toMatch(message);
      }
      // Less than the sheet: it is never unpacked as a whole.
      expect((await memory()) - before).toBeLessThan(1024 ** 3);
      expect(await stored()).toEqual([]);
      const { bytes: whole } = await stage.send({ send: 'GET open/records.xlsx', accept: 'text/html' });
      expect((await sent(whole, '', XLSX)).status).toBe(201);
    });

    const csv = (body: string | Buffer, type = 'text/csv') => ({
      body,
      headers: { 'content-type': type },
      as: 'mona' as const,
    });
    runTable(stage, [
      {
        title: 'bytes that are not UTF-8 are refused with the cure',
        send: 'POST open/records',
        ...csv(Buffer.from('id\nM\u00fc\n', 'latin1')),
        status: 400,
        has: ['windows-1252'],
      },
      {
        title: 'an unknown charset is refused',
        send: 'POST open/records',
        ...csv('id\na\n', 'text/csv; charset=latin9'),
        status: 415,
      },
      {
        title: 'an unknown separator is refused',
        send: 'POST open/records?separator=%3B',
        ...csv('id\na\n'),
        status: 400,
        has: ['"separator\\" must be'],
      },
      {
        title: 'an unknown parameter of a table is refused',
        send: 'POST open/records?lang=de',
        ...csv('id\na\n'),
        status: 400,
        has: ['Unknown parameter'],
      },
      {
        title: 'no XLSX is refused',
        send: 'POST open/records',
        ...csv('PK is no ZIP', XLSX),
        status: 400,
        has: ['cannot be read as XLSX'],
      },
      {
        title: 'a compressed table is refused',
        send: 'POST open/records',
        body: 'id\n',
        as: 'mona',
        headers: { 'content-type': 'text/csv', 'content-encoding': 'gzip' },
        status: 415,
      },
      {
        title: 'a large table of those who may only add is refused',
        send: 'POST all-submitter/records',
        body: `v\n${'x'.repeat(1_100_000)}\n`,
        headers: { 'content-type': 'text/csv' },
        status: 413,
      },
    ]);
  });
}
