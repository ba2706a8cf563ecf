import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { Row, Stage } from '../../support/stage';
import { expectAnswer, runTable } from '../../support/table';

export function wrongText(stage: Stage): void {
  describe('text that is not UTF-8', () => {
    const bytes = (...parts: (string | number)[]) =>
      Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from([part]))));
    const form = 'application/x-www-form-urlencoded';
    const multipart = 'multipart/form-data; boundary=b';
    const part = '--b\r\nContent-Disposition: form-data; name="name"\r\n\r\n';
    const body = (send: string, type: string, text: string | Buffer, message: string): Row => ({
      title: `${type} that is not UTF-8 is refused`,
      send,
      headers: { 'content-type': type },
      body: text,
      status: 400,
      error: 'BadRequestError',
      has: [message],
    });
    const json = 'application/json';
    const address = (path: string, sequence: string): Row => ({
      title: 'an address that is not UTF-8 is refused',
      send: `GET ${path}`,
      status: 400,
      error: 'BadRequestError',
      has: ['The address is not UTF-8', sequence],
    });
    runTable(stage, [
      body('POST open', json, bytes('{"a":"', 0xff, '"}'), 'The body is not UTF-8: byte 6 is wrong'),
      body('PUT open/record/never', json, bytes('{"é":"', 0xc3, '"}'), 'byte 7 is wrong'),
      body('PATCH open/record/stays', json, bytes('{"a":"', 0xed, 0xa0, 0x80, '"}'), 'byte 6 is wrong'),
      body('POST open/records', json, bytes('[{"a":"', 0xc0, 0x80, '"}]'), 'byte 7 is wrong'),
      body('POST open/search', json, bytes('{"query":"', 0xf8, '"}'), 'byte 10 is wrong'),
      body('POST open/blocks/values/number', json, bytes('{"a":"', 0x80, '"}'), 'byte 6 is wrong'),
      body('POST open/records', 'application/x-ndjson', bytes('{"a":1}\n{"a":"', 0xff, '"}\n'), 'Line 2 is not UTF-8'),
      body('POST flow/blocks/item', form, bytes('name=', 0xff), 'The body is not UTF-8: byte 5 is wrong'),
      body('POST flow/blocks/item', form, 'name=%FF', 'The form is not UTF-8: %FF at position 5'),
      body('POST flow/blocks/item', form, 'name=a&b=%C3%A9%C3', '%C3%A9%C3 at position 9'),
      body('POST flow/blocks/item', form, '%FF=name', '%FF at position 0'),
      body('POST flow/blocks/item', multipart, bytes(part, 0xff, '\r\n--b--\r\n'), 'is not UTF-8: byte 0 is wrong'),
      address('open/records?limit=1&locale=%FF', '%FF at position'),
      address('open/records?%C3=1', '%C3 at position'),
      address('open/blocks/values/number?x=%ED%A0%80', '%ED%A0%80 at position'),
      address('%FF', '%FF at position'),
      address('open/blocks/%C3%28', '%C3%28 at position'),
      address('/site/%FF/@@apps/open', '%FF at position'),
      address('/site/articles/%FF', '%FF at position'),
      address('/site/@@login?next=%FF', '%FF at position'),
      address('open/record/%FF', '%FF at position'),
      { title: 'an address with a bare % is taken', send: 'GET open/blocks/values/number?x=100%', status: 200 },
      {
        title: 'an address of other text is taken',
        send: 'GET open/blocks/values/number?x=%C3%A9+%F0%9F%8D%8E',
        status: 200,
      },
    ]);

    test('a compressed body is checked too', async () => {
      const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
      const zipped = (text: Buffer) => stage.send({ send: 'POST open', headers, body: gzipSync(text) });
      expectAnswer(await zipped(bytes('{"a":"', 0xff, '"}')), {
        status: 400,
        error: 'BadRequestError',
        has: ['byte 6'],
      });
      expectAnswer(await zipped(bytes('{"a":1e999}')), { status: 400, error: 'BadRequestError', has: ['1e999'] });
      expectAnswer(await zipped(bytes('{"a":"é"}')), { status: 201 });
    });
  });

  describe("an element's own address", () => {
    const said = '%3Cimg%20src=x%20onerror=alert(1)%3E';
    const row = (element: string, type: string): Row => ({
      title: `the element ${element} has its own type`,
      send: `GET debug/blocks/echo/${element}?said=${said}`,
      accept: 'text/html',
      status: 200,
      has: ['<img src=x onerror=alert(1)>'],
      answers: { 'content-type': `${type}; charset=utf-8`, 'x-content-type-options': 'nosniff' },
    });
    runTable(stage, [
      row('html', 'text/html'),
      ...['name', 'notes', 'secret'].map((element) => row(element, 'text/plain')),
      {
        ...row('name', 'application/json'),
        title: 'the element name is JSON for a client of JSON',
        accept: 'application/json',
      },
    ]);
  });

  describe("lines of the server's log", () => {
    const forged = '\n[2026-01-01] info: all is well\r\n\u001b[2J\u001b]0;title\u0007\u009b31m\u2028\u202e';
    const attempts: [name: string, send: (mark: string) => Parameters<Stage['send']>[0]][] = [
      ['the log', (mark) => ({ send: `POST debug/blocks/echo/shout?said=${encodeURIComponent(mark)}`, json: {} })],
      ['the path of a failure', (mark) => ({ send: `GET debug/blocks/echo/shout?${encodeURIComponent(mark)}` })],
      [
        'an error mark',
        (mark) => ({ send: `GET debug/blocks/talk?mark=${encodeURIComponent(mark)}`, accept: 'text/html' }),
      ],
    ];
    test.each(attempts)('text that is forged in %s stays one line without control characters', async (name, send) => {
      const from = (await stage.host.printed()).length;
      await stage.send(send(`begin-${name}${forged}`));
      const written = (await stage.host.printed()).slice(from);
      // The colours of Strapi's own log.
      const plain = written.replace(/\u001b\[\d+m/g, '');
      expect(plain).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u202e]/);
      expect(plain.split('\n').filter((line) => line.startsWith('[2026-01-01]'))).toEqual([]);
      if (name === 'the log')
        expect(plain).toContain('begin-the log\\n[2026-01-01] info: all is well\\u000d\\n\\u001b[2J');
    });
  });
}
