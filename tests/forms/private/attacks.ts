import { beforeAll, describe, expect, test } from 'vitest';
import type { Answer } from '../../support/send';
import { html } from '../../support/stage';
import { pdf } from '../files/send';
import { attach, type File, type Items, type PrivateTools } from './tools';

/** Attacks on private files: foreign cookies and ids, names, ranges, caches, records that name what is not theirs. */
export function attacks({ stage, twin, post, get, made }: PrivateTools): void {
  describe('attacks', () => {
    let mine: Awaited<ReturnType<typeof made>>;
    let other: Awaited<ReturnType<typeof made>>;
    let [id, base] = ['', ''];
    beforeAll(async () => {
      mine = await made('una');
      other = await made('nina', [{ name: 'cv', file: 'a.txt', content: 'A line.\n<b>x</b>'.slice(0, 8) }]);
      id = mine.items.cv?.documentId ?? '';
      base = `/site/@@apps/cv/files/${id}`;
    });

    test.each<[what: string, as: string, path: (file: { id: string; base: string }) => string]>([
      ['of anonymous', 'anonymous', ({ base }) => `${base}/My%20CV.pdf`],
      ['of another user, who owns other records', 'nina', ({ base }) => `${base}/My%20CV.pdf`],
      ['of a user who may only add records', 'sam', ({ base }) => `${base}/My%20CV.pdf`],
      ['of a token without the right', 'createToken', ({ base }) => `${base}/My%20CV.pdf`],
      ['for the small picture by anonymous', 'anonymous', ({ base }) => `${base}/My%20CV.pdf?thumbnail`],
      ['for a download by anonymous', 'anonymous', ({ base }) => `${base}/My%20CV.pdf?download`],
      ['with another name', 'mona', ({ base }) => `${base}/My%20CV.html`],
      ['with the name in another case', 'mona', ({ base }) => `${base}/my%20cv.pdf`],
      ['with a name that leads out', 'mona', ({ base }) => `${base}/..%2F..%2Fsettings.yaml`],
      ['with a name of dots', 'mona', ({ base }) => `${base}/..`],
      ['with a NUL in the name', 'mona', ({ base }) => `${base}/My%20CV.pdf%00.html`],
      ['with a backslash in the name', 'mona', ({ base }) => `${base}/..%5CMy%20CV.pdf`],
      ['with something after the name', 'mona', ({ base }) => `${base}/My%20CV.pdf/evil.html`],
      ['without a name', 'mona', ({ base }) => `${base}/`],
      ['without a name and a slash', 'mona', ({ base }) => base],
      ['without an id', 'mona', () => '/site/@@apps/cv/files'],
      ['with an id that leads out', 'mona', () => '/site/@@apps/cv/files/..%2F..%2Fpackage.json/My%20CV.pdf'],
      ['with the id of a row', 'mona', () => '/site/@@apps/cv/files/1/My%20CV.pdf'],
      ['with a pattern for the id', 'mona', () => '/site/@@apps/cv/files/%25/My%20CV.pdf'],
      ['with the id in upper case', 'mona', ({ id }) => `/site/@@apps/cv/files/${id.toUpperCase()}/My%20CV.pdf`],
      ['with the id of its small picture', 'mona', ({ id }) => `/site/@@apps/cv/files/thumbnail_${id}/My%20CV.pdf`],
      ['by another app', 'mona', ({ id }) => `/site/@@apps/twin/files/${id}/My%20CV.pdf`],
      ['by another site', 'mona', ({ id }) => `/second/@@apps/cv/files/${id}/My%20CV.pdf`],
      ['by the media library', 'mona', ({ id }) => `/uploads/${id}`],
      ['by the media library with its ending', 'mona', ({ id }) => `/uploads/${id}.pdf`],
    ])('a request %s is answered as for a file that is not there', async (_what, as, path) => {
      const answer = await get(as, path({ id, base }));
      expect(answer.status).toBe(404);
      expect(answer.text).not.toContain('PDF');
      expect(answer.headers['cache-control'] ?? 'no-store').not.toContain('public');
      expect((await get(as, path({ id, base }), { send: `HEAD ${path({ id, base })}` })).status).toBe(404);
    });

    test('who may not view it learns nothing from the answer', async () => {
      const [there, none] = [
        await get('nina', `${base}/My%20CV.pdf`),
        await get('nina', `/site/@@apps/cv/files/z${id.slice(1)}/x`),
      ];
      const told = ({ status, text, headers: { date: _date, 'x-request-id': _id, ...headers } }: Answer) => ({
        status,
        text,
        headers,
      });
      const masked = JSON.stringify(told(there)).replaceAll(String(there.headers['x-request-id']), 'id');
      expect(masked).toBe(JSON.stringify(told(none)).replaceAll(String(none.headers['x-request-id']), 'id'));
    });

    test.each([
      ['bytes=0-3', 206, '%PDF', `bytes 0-3/${pdf.length}`],
      ['bytes=-5', 206, pdf.subarray(-5).toString('latin1'), `bytes ${pdf.length - 5}-${pdf.length - 1}/${pdf.length}`],
      ['bytes=0-999999999999', 206, pdf.toString('latin1'), `bytes 0-${pdf.length - 1}/${pdf.length}`],
      ['bytes=5000-', 416, '', `bytes */${pdf.length}`],
      [`bytes=${Array.from({ length: 500 }, (_, n) => `${n}-${n}`).join()}`, 200, pdf.toString('latin1'), undefined],
      ['bytes=9-2', 200, pdf.toString('latin1'), undefined],
      ['lines=1-2', 200, pdf.toString('latin1'), undefined],
    ])('a part of it by Range: %.40s', async (range, status, bytes, part) => {
      const answer = await get('una', `${base}/My%20CV.pdf`, { headers: { range } });
      expect([answer.status, answer.bytes.toString('latin1'), answer.headers['content-range']]).toEqual([
        status,
        bytes,
        part,
      ]);
      expect((await get('nina', `${base}/My%20CV.pdf`, { headers: { range } })).status).toBe(404);
    });

    test('caches ask each time, and the known version is no way around the right', async () => {
      const { headers } = await get('una', `${base}/My%20CV.pdf`);
      const known = { 'if-none-match': String(headers.etag) };
      const again = await get('una', `${base}/My%20CV.pdf`, { headers: known });
      expect([again.status, again.bytes.length, again.headers['cache-control']]).toEqual([304, 0, 'private, no-cache']);
      for (const tag of [known['if-none-match'], '*'])
        expect((await get('nina', `${base}/My%20CV.pdf`, { headers: { 'if-none-match': tag } })).status).toBe(404);
      const old = { range: 'bytes=0-3', 'if-range': '"another"' };
      expect((await get('una', `${base}/My%20CV.pdf`, { headers: old })).status).toBe(200);
      const head = await get('una', '', { send: `HEAD ${base}/My%20CV.pdf` });
      expect([head.status, head.bytes.length, head.headers['content-length']]).toEqual([200, 0, String(pdf.length)]);
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
        expect((await stage.send({ as: 'mona', send: `${method} ${base}/My%20CV.pdf`, json: {} })).status).toBe(405);
    });

    test.each<[what: string, send: string, block: boolean]>([
      ['a new record of the block', 'POST cv', true],
      ['a new record of the block with an id', 'PUT cv/record/thief', true],
      ['a new record of no block', 'PUT cv/record/thief', false],
      ['many records', 'POST cv/records', true],
      ['many records of no block', 'POST cv/records', false],
      ['a changed record', 'PATCH cv/record/{other}', true],
      ['a record of another app', 'PUT twin/record/thief', true],
      ['a record of another app, of no block', 'PUT twin/record/thief', false],
      ['a record of another site', 'PUT /second/@@apps/cv/record/thief', false],
    ])('a file of another record is refused in %s', async (_what, line, hasBlock) => {
      const cv = { ...mine.items.cv, url: `/${'x'}`, name: 'mine.pdf' };
      const [items, patched] = [{ ...(hasBlock && { block: 'apply' }), cv }, { cv }];
      const send = line.replace('{other}', other.id);
      const json = line.includes('records') ? [items] : line.startsWith('PATCH') ? patched : items;
      const answer = await stage.send<{ error: { name: string; details: { errors: unknown[] } } }>({
        as: 'eric',
        json,
        send: line.includes('{other}') ? send : send,
      });
      expect([answer.status, answer.json.error.name], answer.text).toEqual([422, 'ValidationError']);
      expect(answer.text).toContain('"path":["cv"]');
      expect((await get('eric', `/site/@@apps/cv/record/thief`, { accept: 'application/json' })).status).toBe(404);
    });

    test('a form cannot keep a file of another record, nor logic copy it', async () => {
      const kept = await post('nina', [{ name: 'cv', content: `stored:${id}` }]);
      const nina = (await stage.items('cv', kept.json.id)) ?? {};
      expect([kept.status, nina.cv]).toEqual([201, null]);
      const copied = await post('una', [{ name: 'name', content: 'copies' }, attach]);
      expect([copied.status, copied.text]).toEqual([422, expect.stringContaining('belongs to another record')]);
      const elsewhere = await post('una', [{ name: 'name', content: 'elsewhere' }, attach]);
      expect([elsewhere.status, await stage.items('twin', 'elsewhere')]).toEqual([422, null]);
    });

    test('of two records that come to name it at the same moment one is refused', async () => {
      const free = await made('una');
      const cv = free.items.cv;
      // Without its release, as a file is whose record an import restores.
      await stage.host.run(async (strapi, one) => {
        await strapi
          .plugin('apps')
          .service('records')
          .store()
          .transact((unit: { delete(key: object, id: string): unknown }) =>
            unit.delete({ site: 'site', app: 'cv' }, one),
          );
      }, free.id);
      expect((await get('mona', String(cv?.url))).status).toBe(404);
      const port = await twin.run((strapi) => (strapi.server.httpServer.address() as { port: number }).port);
      const { bearer } = (await stage.credential('eric')) as { bearer: string };
      const rivals = await Promise.all(
        Array.from({ length: 12 }, async (_, n) => {
          const origin = n % 2 ? stage.host.url : `http://127.0.0.1:${port}`;
          const answer = await fetch(`${origin}/site/@@apps/cv/record/rival${n}`, {
            method: 'PUT',
            headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
            body: JSON.stringify({ cv }),
          });
          return answer.status;
        }),
      );
      expect(rivals.sort()).toEqual([201, ...Array(11).fill(422)]);
      expect((await get('mona', String(cv?.url))).status).toBe(200);
    });

    test('a record that changes hands takes its file with it', async () => {
      const one = await made('una');
      const { url = '' } = one.items.cv ?? {};
      const move = { as: 'eric', json: { cv: null }, send: `PATCH cv/record/${one.id}` };
      expect((await stage.send(move)).status).toBe(200);
      expect((await get('una', url)).status).toBe(404);
      expect((await get('mona', url)).status).toBe(404);
    });

    test('what a record says of a file is not what is served', async () => {
      const lies = { ...mine.items.cv, mime: 'text/html', name: 'x.html', url: 'https://evil.example/x' };
      expect((await stage.send({ as: 'eric', send: `PATCH cv/record/${mine.id}`, json: { cv: lies } })).status).toBe(
        200,
      );
      const { cv } = (await stage.items('cv', mine.id)) as Items;
      expect([cv?.url, cv?.name, cv?.mime]).toEqual([
        `${stage.host.url}${base}/My%20CV.pdf`,
        'My CV.pdf',
        'application/pdf',
      ]);
      expect((await get('una', `${base}/My%20CV.pdf`)).headers['content-type']).toBe('application/pdf');
    });

    test.each([
      ['text/html', 'x.html', 'application/octet-stream'],
      ['image/svg+xml', 'x.svg', 'application/octet-stream'],
      ['application/xhtml+xml', 'x.xhtml', 'application/octet-stream'],
      ['text/javascript', 'x.js', 'application/octet-stream'],
      ['text/csv', 'x.csv', 'text/csv'],
      ['application/zip', 'x.zip', 'application/zip'],
    ])('%s is never shown by a browser as what it is', async (mime, name, type) => {
      const { id: record, items } = await made('una');
      const { documentId } = items.cv as File;
      await stage.host.run(
        async (strapi, file, given) => {
          const table = strapi.db.query('plugin::apps.file');
          const row = await table.findOne({ where: { file } });
          const content = { ...row.content, name: given.name, main: { ...row.content.main, mime: given.mime } };
          await table.update({ where: { id: row.id }, data: { content } });
        },
        documentId,
        { name, mime },
      );
      const { status, headers } = await get('una', `/site/@@apps/cv/files/${documentId}/${name}`);
      expect([status, headers['content-type'], headers['x-content-type-options']]).toEqual([200, type, 'nosniff']);
      expect(headers['content-disposition']).toBe(`attachment; filename="${name}"`);
      expect(headers['content-security-policy']).toMatch(/default-src 'none'.*sandbox/);
      await stage.send({ as: 'mona', send: `DELETE cv/record/${record}` });
    });

    test('a page that is kept for all shows addresses only, which open nothing to others', async () => {
      const second = await get('anonymous', '/site/@@apps/cv/blocks/all', { accept: html });
      expect(second.status).toBe(200);
      expect(second.text).toContain(`${base}/My%20CV.pdf`);
      expect((await get('anonymous', `${base}/My%20CV.pdf`)).status).toBe(404);
    });
  });
}
