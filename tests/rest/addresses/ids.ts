import { describe, expect, test } from 'vitest';
import type { Stage } from '../../support/stage';
import { runTable } from '../../support/table';

export function ids(stage: Stage): void {
  describe('record ids are everything after /record/, decoded once', () => {
    /** Raw path after `record/`, the id that it names, and how a returned path writes it (where that is settled). */
    const ids: [raw: string, id: string, path?: string][] = [
      ['simple', 'simple', 'simple'],
      ['a/b/c', 'a/b/c', 'a/b/c'],
      ['/tutorial/news', '/tutorial/news', '/tutorial/news'],
      ['//two', '//two', '//two'],
      ['a%2Fd', 'a/d', 'a/d'],
      ['with%20space', 'with space', 'with%20space'],
      ['per%2525cent', 'per%25cent', 'per%2525cent'],
      ['question%3Fmark', 'question?mark', 'question%3Fmark'],
      ['hash%23tag', 'hash#tag', 'hash%23tag'],
      ['plus+plus', 'plus+plus', 'plus+plus'],
      ['%C3%A9t%C3%A9', 'été', '%C3%A9t%C3%A9'],
      ['%F0%9F%8D%8E', '🍎', '%F0%9F%8D%8E'],
      ['end/', 'end/', 'end/'],
      ['a/../b', 'a/../b'],
      ['a%2F..%2Fc', 'a/../c'],
      ['..', '..'],
      ['a/.', 'a/.'],
      ['__proto__', '__proto__', '__proto__'],
      ['constructor', 'constructor', 'constructor'],
      ['records', 'records', 'records'],
      ['blocks/x/y', 'blocks/x/y', 'blocks/x/y'],
      ['some/edit', 'some/edit', 'some/edit'],
      ["it's", "it's", "it's"],
      ['semi;colon,=&$@!*()', 'semi;colon,=&$@!*()', 'semi;colon,=&$@!*()'],
      ['%22double%22%3Ctag%3E', '"double"<tag>', '%22double%22%3Ctag%3E'],
      ['x'.repeat(255), 'x'.repeat(255), 'x'.repeat(255)],
    ];
    test.each(ids)('a record with the id %s is made, read and deleted at its address', async (raw, id, written) => {
      const made = await stage.send<{ id: string; path: string }>({ send: `PUT open/record/${raw}`, json: { raw } });
      expect(made.status, made.text).toBe(201);
      expect(made.json.id).toBe(id);
      const base = `${stage.host.url}/site/@@apps/open/record/`;
      expect(decodeURIComponent(made.json.path)).toBe(base + id);
      // Sub-delimiters may be written either way, a slash may not.
      if (written) expect(made.json.path.split('/').length).toBe((base + written).split('/').length);
      // "A URL that works when requested": browsers and fetch resolve dot segments, and leave everything else.
      expect(new URL(made.json.path).href).toBe(made.json.path);
      const path = made.json.path.slice(stage.host.url.length);
      expect(path).toMatch(/^[\x21-\x7e]+$/);
      expect(path).not.toMatch(/[?#"<>]/);
      for (const address of [path, `open/record/${raw}`]) {
        expect((await stage.send({ send: `GET ${address}` })).json).toEqual({ raw, id });
      }
      expect((await stage.send({ send: `DELETE ${path}` })).status).toBe(200);
    });

    test('ids are compared byte by byte', async () => {
      const similar = [
        'Case',
        'case',
        'CASE',
        'cafe',
        'café',
        'cafe\u0301',
        'tail',
        'tail ',
        'tail  ',
        ' tail',
        'ß',
        'ss',
      ];
      for (const id of similar) await stage.put('open', id, { me: id });
      for (const id of similar) expect(await stage.items('open', id)).toEqual({ me: id, id });
      expect((await stage.send({ send: 'DELETE open/record/tail%20' })).status).toBe(200);
      expect(await stage.items('open', 'tail')).toEqual({ me: 'tail', id: 'tail' });
    });

    runTable(stage, [
      {
        title: 'an id with a zero byte is refused',
        send: 'PUT open/record/%00',
        json: {},
        status: 400,
        error: 'BadRequestError',
      },
      {
        title: 'an id with a line break is refused',
        send: 'GET open/record/a%0Ab',
        status: 400,
        error: 'BadRequestError',
      },
      {
        title: 'an id with a control character is refused',
        send: 'DELETE open/record/a%7F',
        status: 400,
        error: 'BadRequestError',
      },
      {
        title: 'an id with malformed encoding is refused',
        send: 'GET open/record/%ZZ',
        status: 400,
        error: 'BadRequestError',
      },
      {
        title: 'an id with half an encoding is refused',
        send: 'GET open/record/%',
        status: 400,
        error: 'BadRequestError',
      },
      {
        title: 'an id that is not UTF-8 is refused',
        send: 'GET open/record/%FF',
        status: 400,
        error: 'BadRequestError',
      },
      {
        title: 'an id of 256 characters is refused',
        send: `GET open/record/${'x'.repeat(256)}`,
        status: 400,
        error: 'BadRequestError',
      },
      {
        title: 'an id of 300 characters is refused',
        send: `PUT open/record/${'x'.repeat(300)}`,
        json: {},
        status: 400,
        error: 'BadRequestError',
      },
      { title: 'an id without characters is refused', send: 'GET open/record/', status: 400 },
      {
        title: 'an empty id is refused in operation 5',
        send: 'POST open',
        json: { id: '' },
        status: 400,
        error: 'BadRequestError',
      },
      {
        title: 'an id with a zero byte is refused in operation 5',
        send: 'POST open',
        json: { id: 'a\u0000' },
        status: 400,
        error: 'BadRequestError',
      },
      {
        title: 'a long id is refused in operation 5',
        send: 'POST open',
        json: { id: 'x'.repeat(256) },
        status: 400,
        error: 'BadRequestError',
      },
      {
        title: 'an object as an id is refused in operation 5',
        send: 'POST open',
        json: { id: { a: 1 } },
        status: 400,
        error: 'BadRequestError',
      },
    ]);
  });

  describe('ids of sites, apps, blocks and elements', () => {
    const bad = [
      '__proto__',
      'constructor',
      'prototype',
      '..',
      'a..b',
      '.hidden',
      '-dash',
      'a%2Fb',
      '%00',
      '%ZZ',
      'a%20b',
      'x'.repeat(300),
    ];
    runTable(
      stage,
      bad.flatMap((id) => [
        { title: 'a bad id of a site is not found', send: `GET /${id}/@@apps/open`, status: 404 },
        { title: 'a bad id of an app is not found', send: `GET ${id}`, status: 404 },
        { title: 'a bad id of a block is not found', send: `GET open/blocks/${id}`, status: 404 },
        { title: 'a bad id of an element is not found', send: `GET open/blocks/values/${id}`, status: 404 },
      ]),
    );
    runTable(stage, [
      { title: 'an unknown site is not found', send: 'GET /elsewhere/@@apps/open', status: 404 },
      { title: 'an app without an id is not found', send: 'GET /site/@@apps/', status: 404 },
      { title: 'a block without an id is not found', send: 'GET open/blocks/', status: 404 },
      {
        title: 'an address with too many segments is not found',
        send: 'GET open/blocks/values/info/more',
        status: 404,
      },
      { title: 'an unknown part of an app is not found', send: 'GET open/anything', status: 404 },
      { title: 'a path out of the app is not found', send: 'GET open/../../../etc/passwd', status: 404 },
      { title: 'an encoded path out of the app is not found', send: 'GET open%2F..%2Fplain', status: 404 },
    ]);
  });
}
