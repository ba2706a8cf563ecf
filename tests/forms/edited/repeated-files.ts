import { describe, expect, test } from 'vitest';
import { credentialHeaders } from '../../support/send';
import type { Stage } from '../../support/stage';
import { upload } from '../../support/upload';
import { packed } from '../../support/zip';
import { formBody, pdf, sendBody } from '../files/send';

const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

/** Bodies of any length, and forms with files, that arrive more than once: they are compared by what they hold. */
export function repeatedFiles(stage: Stage): void {
  const names = async (kind: string) => {
    const { json } = await stage.send<{ items: Record<string, string> }[]>({ as: 'mona', send: 'GET edited/records' });
    return json.flatMap(({ items }) => ((items.kind ?? items.block) === kind ? [items.name] : []));
  };
  const key = (value: string) => ({ 'idempotency-key': value });
  const named = (name: string, type: string, body: string | Buffer, query = '') =>
    stage.send<{ total?: number; error?: { name: string } }>({
      as: 'mona',
      send: `POST edited/records${query}`,
      body,
      headers: { ...key(name), 'content-type': type },
    });

  describe('a file of records under an Idempotency-Key', () => {
    const sheet = (name: string) =>
      packed(
        {
          '[Content_Types].xml':
            '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>',
          'xl/workbook.xml':
            '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>',
          'xl/_rels/workbook.xml.rels':
            '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
          'xl/worksheets/sheet1.xml': `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData><row>${['kind', 'name'].map(cell).join('')}</row><row>${['xlsx', name].map(cell).join('')}</row></sheetData></worksheet>`,
        },
        undefined,
        false,
      );
    const cell = (text: string) => `<c t="inlineStr"><is><t>${text}</t></is></c>`;
    const kinds: [kind: string, type: string, body: (name: string) => string | Buffer | Promise<Buffer>][] = [
      ['ndjson', 'application/x-ndjson', (name) => `{"kind":"ndjson","name":"${name}"}\n\n`],
      ['csv', 'text/csv', (name) => `kind,name\ncsv,${name}\n`],
      ['tsv', 'text/tab-separated-values', (name) => `kind\tname\ntsv\t${name}\n`],
      ['xlsx', XLSX, sheet],
    ];

    test.each(kinds)('%s is stored once; another body of the same length is 422', async (kind, type, body) => {
      const [one, other] = [await body('one'), await body('two')];
      expect(other.length).toBe(one.length);
      const answers = [await named(kind, type, one), await named(kind, type, one)];
      expect(answers.map(({ status, text }) => [status, text])).toEqual(
        Array(2).fill([201, '{"total":1,"success":"created"}']),
      );
      const longer = Buffer.concat([Buffer.from(one), Buffer.from('\n')]);
      for (const another of [other, longer, longer.subarray(0, 5), '']) {
        const { status, json } = await named(kind, type, another);
        expect([status, json]).toMatchObject([422, { error: { name: 'ValidationError' } }]);
      }
      expect(await names(kind)).toEqual(['one']);
    });

    test('is another request with another query, type or charset', async () => {
      const body = 'kind,name\ncsv-type,a\n';
      expect((await named('type', 'text/csv', body, '?language=de')).status).toBe(201);
      for (const [type, query] of [
        ['text/csv', ''],
        ['text/csv', '?language=en'],
        ['text/csv; charset=windows-1252', '?language=de'],
        ['text/tab-separated-values', '?language=de'],
      ] as const)
        expect((await named('type', type, body, query)).status).toBe(422);
      expect(await names('csv-type')).toEqual(['a']);
    });

    test('a long body that differs is answered before it has arrived', async () => {
      const body = 'kind,name\nlong,a\n';
      expect((await named('long', 'text/csv', body)).status).toBe(201);
      const headers = { ...credentialHeaders(await stage.credential('mona')), ...key('long') };
      const path = '/site/@@apps/edited/records';
      const size = 200 * 1024 * 1024;
      const sent = { port: Number(new URL(stage.host.url).port), path, headers, type: 'text/csv', begin: body, size };
      for (const chunked of [false, true]) {
        const answer = await upload({ ...sent, chunked });
        expect(answer.status).toBe(422);
        expect(answer.sent).toBeLessThan(size / 4);
      }
    });

    test('of several at once one is stored, and each gets its answer when it asks again', async () => {
      const bodies = [1, 2, 3, 4].map(() => 'kind,name\natonce,a\n');
      const first = await Promise.all(bodies.map((body) => named('at once', 'text/csv', body)));
      const again = await Promise.all(bodies.map((body) => named('at-once', 'text/csv', body)));
      expect(first.map(({ status }) => status)).toEqual(Array(4).fill(400));
      for (const { status, headers } of again) {
        expect([201, 409]).toContain(status);
        if (status === 409) expect(headers['retry-after']).toBe('1');
      }
      const last = await Promise.all(bodies.map((body) => named('at-once', 'text/csv', body)));
      expect(last.map(({ status }) => status)).toEqual(Array(4).fill(201));
      expect(await names('atonce')).toEqual(['a']);
    });

    test('that ended too soon, or was refused, has not used its key', async () => {
      const headers = { ...credentialHeaders(await stage.credential('mona')), ...key('left') };
      const path = '/site/@@apps/edited/records';
      const begin = 'kind,name\nleft,a\n';
      const leaving = {
        port: Number(new URL(stage.host.url).port),
        path,
        headers,
        type: 'text/csv',
        begin,
        size: 900_000,
        leaveAt: 1,
      };
      await upload(leaving);
      expect((await named('left', 'text/csv', 'kind,name\n"left,a\n')).status).toBe(400);
      expect((await named('left', 'text/csv', begin)).status).toBe(201);
      // A repetition that ends too soon is none, and changes nothing.
      await upload(leaving);
      expect((await named('left', 'text/csv', begin)).status).toBe(201);
      expect(await names('left')).toEqual(['a']);
    });
  });

  describe('a form with files that arrives twice', () => {
    const token = async () => {
      const { text } = await stage.send({ send: 'GET edited/blocks/paper', accept: 'text/html' });
      return /name="_csrf" value="([^"]*)"/.exec(text)?.[1] ?? '';
    };
    const send = (csrf: string, content: Buffer, headers = {}) =>
      sendBody(
        stage,
        formBody([
          { name: '_csrf', content: csrf },
          { name: 'name', content: 'paper' },
          { name: 'file', file: 'a.pdf', content },
          { name: '_save', content: '' },
        ]),
        'edited/blocks/paper',
        'text/html',
        headers,
      );
    const other = Buffer.from(pdf.toString('latin1').replace('1 0 obj', '2 0 obj'), 'latin1');

    test('is saved once, and again with another file of the same name and length', async () => {
      const csrf = await token();
      const answers = [await send(csrf, pdf), await send(csrf, pdf), await send(csrf, other)];
      expect(answers.map(({ status }) => status)).toEqual([303, 303, 303]);
      const [first, second, third] = answers.map(({ location }) => location);
      expect(second).toBe(first);
      expect(third).not.toBe(first);
      expect(await names('paper')).toHaveLength(2);
    });

    test('is 422 under its key with another file of the same name and length', async () => {
      const before = (await names('paper')).length;
      const csrf = await token();
      const statuses = [];
      for (const file of [pdf, pdf, other]) statuses.push((await send(csrf, file, key('paper'))).status);
      expect(statuses).toEqual([303, 303, 422]);
      expect(await names('paper')).toHaveLength(before + 1);
    });
  });
}
