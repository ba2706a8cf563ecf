import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { Row, Stage } from '../../support/stage';
import { runTable } from '../../support/table';

export function wrongForms(stage: Stage): void {
  describe('forms', () => {
    const names = (count: number) => Array.from({ length: count }, (_, n) => `f${n}`);
    const urlencoded = (count: number) =>
      names(count)
        .map((name) => `${name}=1`)
        .join('&');
    const multipart = (count: number) => {
      const parts = names(count).map((name) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n1\r\n`);
      return `${parts.join('')}--b--\r\n`;
    };
    const row = (title: string, type: string, body: string, status: number): Row => ({
      title,
      send: 'POST flow/blocks/item',
      accept: 'application/json',
      headers: { 'content-type': type },
      body,
      status,
      ...(status === 400 && { error: 'BadRequestError' }),
    });
    const form = 'multipart/form-data; boundary=b';
    const encoded = 'application/x-www-form-urlencoded';
    runTable(stage, [
      row('a multipart form of many fields is taken', form, multipart(900), 200),
      {
        ...row('a multipart form of too many fields is refused', form, multipart(14_000), 400),
        has: ['fewer than 1000 fields'],
      },
      {
        ...row('a multipart form of too many fields is refused with a page', form, multipart(14_000), 400),
        accept: 'text/html',
        error: undefined,
        has: ['1000 fields'],
      },
      row('a multipart form that is none is refused', form, 'nothing', 400),
      row('a multipart form without a boundary is refused', 'multipart/form-data', multipart(1), 400),
      row('a multipart form that ends too soon is refused', form, multipart(3).slice(0, 100), 400),
      row('an encoded form of many fields is taken', encoded, urlencoded(900), 200),
      {
        ...row('an encoded form of too many fields is refused', encoded, urlencoded(100_000), 400),
        has: ['fewer than 1000 fields'],
      },
      row('an encoded form of one name again and again is refused', encoded, 'a=1&'.repeat(100_000), 400),
    ]);
  });

  describe('raw requests', () => {
    /** Sends bytes unchanged; returns the status code. */
    const raw = (bytes: string) =>
      new Promise<number>((resolve, reject) => {
        const { port } = new URL(stage.host.url);
        const socket = connect(Number(port), '127.0.0.1', () => socket.write(bytes));
        let text = '';
        socket.on('data', (chunk) => {
          text += chunk;
        });
        socket.on('error', reject);
        socket.on('close', () => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0)));
      });
    const get = (target: string) =>
      `GET ${target} HTTP/1.1\r\nHost: x\r\nAccept: application/json\r\nConnection: close\r\n\r\n`;
    const cases: [string, string, number[]][] = [
      ['two slashes at the start', get('//tutorial/news'), [400, 404]],
      ['an absolute address', get('http://evil.example/site/@@apps/open'), [200, 400, 404]],
      ['a backslash', get('/site/@@apps\\open'), [400, 404]],
      ['a path of dots', get('/site/@@apps/../../../../etc/passwd'), [400, 404]],
      ['a very long path', get(`/site/@@apps/open/record/${'x'.repeat(12_000)}`), [400, 414, 431]],
      ['an unknown method', get('/site/@@apps/open').replace('GET', 'BREW'), [400, 405]],
      ['the method TRACE', get('/site/@@apps/open').replace('GET', 'TRACE'), [405]],
      ['a query of brackets', get(`/site/@@apps/open/records?${'a[b]'.repeat(200)}=1`), [200, 400]],
      ['a query that is no UTF-8', get('/site/@@apps/open/records?limit=%FF'), [400]],
    ];
    test.each(cases)('a raw request with %s does not harm the server', async (_name, bytes, statuses) => {
      expect(statuses).toContain(await raw(bytes));
      expect((await stage.send({ send: 'GET open' })).status).toBe(200);
    });
  });
}
