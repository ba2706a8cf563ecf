import { readdir } from 'node:fs/promises';
import { deflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { runCli } from '../support/command-line';
import { configured } from '../support/configure';
import { availableClients } from '../support/databases';
import { writeFiles } from '../support/files';
import { useDatabase, useFolder, useStage, useThemes, useTwin } from '../support/hooks';
import type { Answer } from '../support/send';
import { html, type RowRequest } from '../support/stage';
import { hostEnvironment } from '../support/temporary-host';
import { repository } from '../support/theme';
import { formBody, libraryNames, type Part, pdf, png } from './files/send';

const definition = `
elements:
  name: TEXT
  cv: { type: FILE, accept: [.pdf, .txt, .csv] }
  photo: IMAGE
  more: { type: REPEAT, elements: { cv: FILE } }
  shop: { type: IMAGE, public: true, folder: shop }
`;
const layout = '{name} {cv} {photo} {more} {shop} {_save} [{{ context.record.cv.url }}]';
const rights = (lists: string) => `acl:\n  rights: { ${lists} }\n`;

/** A picture of one colour, wide enough for a small one. */
function wide(width: number, height: number): Buffer {
  const row = Buffer.alloc(1 + width * 3);
  const chunk = (type: string, data: Buffer) => {
    const table = Array.from({ length: 256 }, (_, n) => {
      let c = n;
      for (let k = 0; k < 8; k += 1) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
      return c >>> 0;
    });
    const body = Buffer.concat([Buffer.from(type), data]);
    const crc = body.reduce((sum, byte) => (table[(sum ^ byte) & 255] as number) ^ (sum >>> 8), 0xffffffff);
    const [length, end] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    end.writeUInt32BE((crc ^ 0xffffffff) >>> 0);
    return Buffer.concat([length, body, end]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const data = deflateSync(Buffer.concat(Array.from({ length: height }, () => row)));
  return Buffer.concat([png.subarray(0, 8), chunk('IHDR', head), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))]);
}

interface File {
  documentId: string;
  name: string;
  url: string;
  mime: string;
  size: number;
  thumbnail?: string;
}
type Items = { [name in 'cv' | 'photo' | 'shop']: File } & { more: { cv: File }[] };

const attach: Part = { name: 'cv', file: 'My CV.pdf', content: pdf };

describe.each(await availableClients())('private files on %s', (client) => {
  const folder = useFolder('private');
  const themes = useThemes(async (copy) => {
    const acl = "reader: [readers], submitter: ['*'], owner: ['*'], editor: [editors]";
    await copy.write('main/apps/mine/settings.yaml', `visitor: true\n${rights("submitter: ['*'], owner: ['*']")}`);
    await copy.write('main/apps/mine/blocks/apply.yaml', definition);
    await copy.write('main/apps/mine/blocks/apply.html', layout);
    await copy.write('main/apps/mine/blocks/own.yaml', 'elements: { own: BASIC }\n');
    await copy.write('main/apps/mine/blocks/own.html', '{own}');
    await copy.write(
      'main/apps/mine/blocks/own.js',
      `export const own = ({ app }) =>
  '[' + app.search('', { own: true }).map((one) => one.name) + '] ' + app.count('', { own: true }) + ' of ' + app.count();
`,
    );
    for (const app of ['cv', 'twin']) {
      await copy.write(`main/apps/${app}/settings.yaml`, rights(acl));
      await copy.write(`main/apps/${app}/blocks/apply.yaml`, definition);
      await copy.write(`main/apps/${app}/blocks/apply.html`, layout);
      await copy.write(
        `main/apps/${app}/blocks/apply.js`,
        `export function on_save({ app, record, get_app }) {
  if (record.name === 'copies') app.create_record('copied').save({ cv: record.cv });
  if (record.name === 'elsewhere') get_app('twin').create_record('elsewhere').save({ cv: record.cv });
}`,
      );
      await copy.write(`main/apps/${app}/blocks/all.yaml`, 'elements: { all: BASIC }\n');
      await copy.write(`main/apps/${app}/blocks/all.html`, '{all}');
      await copy.write(
        `main/apps/${app}/blocks/all.js`,
        "export const all = ({ app }) => app.records().map((one) => one.get('cv')?.url ?? '').join(' ');\n",
      );
    }
  });
  const database = useDatabase(client);
  const options = () => ({
    themesDirectory: themes.directory,
    env: {
      ...database().address.env,
      ...configured({
        apps: {
          filesDirectory: folder('kept'),
          temporaryDirectory: folder('held'),
          sites: [
            { id: 'site', title: 'Site', theme: 'main' },
            { id: 'second', title: 'Second', theme: 'main' },
          ],
        },
      }),
    },
  });
  const stage = useStage(options);
  const twin = useTwin(stage, options);

  const post = async (as: string, parts: Part[], target = 'cv/blocks/apply', accept = 'application/json') =>
    stage.send<{ id: string; error?: { details: { errors: { path: string[]; message: string }[] } } }>({
      ...{ as, accept, send: `POST ${target}`, body: formBody([...parts, { name: '_save', content: '1' }]) },
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
    });
  const get = (as: string, url: string, more: Partial<RowRequest> = {}): Promise<Answer> =>
    stage.send({ as, send: `GET ${url.replace(stage.host.url, '')}`, accept: '*/*', ...more });
  const made = async (as: string, parts: Part[] = [attach]) => {
    const { status, json, text } = await post(as, parts);
    expect(status, text).toBe(201);
    const { json: items } = await stage.send<Items>({ as: 'mona', send: `GET cv/record/${json.id}` });
    return { id: json.id, items };
  };
  /** Names of the stored contents. */
  const kept = async (): Promise<string[]> => {
    const all = await readdir(folder('kept'), { recursive: true, withFileTypes: true }).catch(() => []);
    return all.filter((one) => one.isFile()).map(({ name }) => name);
  };

  test('are stored in the folder, and served to those who may view the record', async () => {
    const { id, items } = await made('una', [
      { name: 'name', content: 'Una' },
      attach,
      { name: 'photo', file: 'me.png', content: wide(600, 300) },
      { name: 'more:0:cv', file: 'b.txt', content: 'second' },
      { name: 'shop', file: 'shop.png', content: png },
    ]);
    const { cv, photo, shop, more } = items as Items & Record<'cv' | 'photo' | 'shop', File>;
    expect(cv).toMatchObject({ name: 'My CV.pdf', mime: 'application/pdf', size: pdf.length });
    expect(cv.url).toBe(`${stage.host.url}/site/@@apps/cv/files/${cv.documentId}/My%20CV.pdf`);
    expect(shop.url).toContain('/uploads/');
    expect(await libraryNames(stage)).toEqual(['shop.png']);
    expect((await kept()).sort()).toEqual(
      [cv.documentId, photo.documentId, `thumbnail_${photo.documentId}`, more[0]?.cv.documentId].sort(),
    );
    expect(photo).toMatchObject({ width: 600, height: 300, thumbnail: `${photo.url}?thumbnail` });

    for (const who of ['una', 'rita', 'eric', 'mona', 'findToken']) {
      const read = await get(who, cv.url);
      expect([who, read.status, read.bytes.equals(pdf)]).toEqual([who, 200, true]);
    }
    const { headers } = await get('una', cv.url);
    expect(headers).toMatchObject({
      'content-type': 'application/pdf',
      'content-length': String(pdf.length),
      'content-disposition': 'inline; filename="My CV.pdf"',
      'cache-control': 'private, no-cache',
      'x-content-type-options': 'nosniff',
      'accept-ranges': 'bytes',
    });
    expect(headers.vary).toMatch(/Authorization.*Cookie/);
    expect((await get('una', `${cv.url}?download`)).headers['content-disposition']).toMatch(/^attachment/);
    const small = await get('una', `${photo.url}?thumbnail`);
    expect([small.status, small.headers['content-type'], small.bytes.readUInt32BE(16)]).toEqual([
      200,
      'image/png',
      245,
    ]);
    expect((await get('una', `${cv.url}?thumbnail`)).status).toBe(404);
    const entry = more[0]?.cv.url ?? '';
    expect((await get('una', entry)).text).toBe('second');

    const shown = await stage.send({ as: 'una', send: `GET cv/record/${id}`, accept: html });
    expect(shown.text).toContain(`href="${cv.url}" type="application/pdf">My CV.pdf</a>`);
    expect(shown.text).toContain(`[${cv.url}]`);
    expect((await stage.send({ as: 'rita', send: 'GET cv/records.csv' })).text).toContain(cv.url);
    const from = (await twin.run((strapi) => (strapi.server.httpServer.address() as { port: number }).port)) as number;
    const other = await fetch(cv.url.replace(/:\d+/, `:${from}`), {
      headers: { authorization: `Bearer ${((await stage.credential('una')) as { bearer: string }).bearer}` },
    });
    expect([other.status, Buffer.from(await other.arrayBuffer()).equals(pdf)]).toEqual([200, true]);

    await stage.send({ as: 'mona', send: `DELETE cv/record/${id}` });
    await expect.poll(kept).toEqual([]);
    expect((await get('una', cv.url)).status).toBe(404);
    await expect.poll(() => libraryNames(stage)).toEqual([]);
  });

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
        ...{ as: 'eric', json },
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

  test("are read in the panel with the administrator's permission, and what it sends back changes nothing", async () => {
    const { id, items } = await made('una', [attach, { name: 'photo', file: 'me.png', content: wide(600, 300) }]);
    const panel = '/apps/sites/site/apps/cv';
    const file = (as: string, documentId: string, more = '') => get(as, `${panel}/file?id=${documentId}${more}`);
    for (const who of ['clerk', 'overseer']) {
      const read = await file(who, items.cv.documentId);
      expect([who, read.status, read.bytes.equals(pdf)]).toEqual([who, 200, true]);
    }
    expect((await file('clerk', items.photo.documentId, '&thumbnail=1')).bytes.readUInt32BE(16)).toBe(245);
    for (const [who, status] of [
      ['olga', 403],
      ['auditor', 403],
      ['anonymous', 401],
      ['una', 401],
    ] as const)
      expect([who, (await file(who, items.cv.documentId)).status]).toEqual([who, status]);
    for (const wrong of ['none', '', '%25', items.cv.documentId.toUpperCase()])
      expect((await file('clerk', wrong)).status).toBe(404);
    const other = '/apps/sites/site/apps/twin/file';
    expect((await get('clerk', `${other}?id=${items.cv.documentId}`)).status).toBe(404);
    const stored = () =>
      stage.host.run(async (strapi, one) => {
        const row = await strapi.db.query('plugin::apps.record').findOne({ where: { identifier: one } });
        return (typeof row.items === 'string' ? JSON.parse(row.items) : row.items) as object;
      }, id);
    const before = await stored();
    const { json: shown } = await stage.send<{ items: object; version: string }>({
      as: 'clerk',
      send: `GET ${panel}/record?id=${id}`,
    });
    expect(JSON.stringify(shown.items)).toContain('?thumbnail');
    const json = { items: { ...shown.items, name: 'New' }, version: shown.version };
    expect((await stage.send({ as: 'clerk', send: `PUT ${panel}/record?id=${id}`, json })).status).toBe(200);
    expect(await stored()).toEqual({ ...before, name: 'New' });
    await stage.send({ as: 'mona', send: `DELETE cv/record/${id}` });
  });

  describe('that are moved', () => {
    type Report = { moved: number; there: number; otherwise: number; gone: number; failed: unknown[] };
    const move = (...given: ['private' | 'public', string?]): Promise<Report[]> =>
      // An argument that is left out must not arrive as null.
      stage.host.run(
        (strapi, asked) =>
          strapi
            .plugin('apps')
            .service('files')
            .move(...asked),
        given,
      );
    const command = async (...args: string[]) => {
      const { code, out, err } = await runCli(['files', ...args], {
        cwd: repository,
        env: { ...hostEnvironment, ...options().env, NODE_ENV: 'test', APPS_THEMES_DIRECTORY: themes.directory },
      });
      expect(code, err).toBe(0);
      return out;
    };
    let id = '';
    const fileOf = async (name: 'cv' | 'photo' | 'shop') => ((await stage.items('cv', id)) as unknown as Items)[name];
    const read = async (name: 'cv' | 'photo' | 'shop', as = 'anonymous') =>
      (await get(as, (await fileOf(name)).url)).status;
    const content = wide(600, 300);
    beforeAll(async () => {
      await stage.send({ as: 'mona', send: 'DELETE cv/records' });
      await vi.waitFor(async () => expect(await kept()).toEqual([]));
      id = (
        await made('una', [
          attach,
          { name: 'photo', file: 'me.png', content },
          { name: 'shop', file: 's.png', content: png },
        ])
      ).id;
    });

    test('are in the media library, and come back, with every byte', async () => {
      const before = await fileOf('cv');
      const photo = await get('una', (await fileOf('photo')).url);
      expect(await command('public', 'cv')).toBe('site/cv: 2 moved, 1 were public\n');
      expect(await kept()).toEqual([]);
      const [cv, picture] = [await fileOf('cv'), await fileOf('photo')];
      expect([cv.url, cv.documentId, cv.name]).toEqual([
        expect.stringContaining('/uploads/'),
        before.documentId,
        before.name,
      ]);
      expect((await get('anonymous', cv.url)).bytes.equals(pdf)).toBe(true);
      expect((await get('anonymous', picture.url)).bytes.equals(photo.bytes)).toBe(true);
      expect((await get('anonymous', picture.thumbnail ?? '')).bytes.readUInt32BE(16)).toBe(245);
      expect((await get('una', before.url)).status).toBe(404);

      expect(await command('private')).toBe('site/cv: 2 moved, 1 stay public: their elements say `public: true`\n');
      expect(await libraryNames(stage)).toEqual(['s.png']);
      for (const { url, thumbnail } of [cv, picture])
        for (const one of [url, thumbnail]) if (one) expect((await get('anonymous', one)).status).toBe(404);
      expect(await fileOf('cv')).toEqual(before);
      expect((await get('una', before.url)).bytes.equals(pdf)).toBe(true);
      expect((await get('una', (await fileOf('photo')).url)).bytes.equals(photo.bytes)).toBe(true);
      expect((await get('una', (await fileOf('photo')).thumbnail ?? '')).bytes.readUInt32BE(16)).toBe(245);
      expect(await move('private')).toMatchObject([{ moved: 0, there: 2, otherwise: 1, failed: [] }]);
      expect(await move('public')).toMatchObject([{ moved: 0, otherwise: 2, there: 1 }]);
    });

    test('stay where they are when a step fails, and are moved by the next attempt', async () => {
      const failing = (name: 'uploadStream' | 'delete', is: boolean) =>
        stage.host.run(
          (strapi, one, fails) => {
            const { provider } = strapi.plugin('upload') as unknown as { provider: Record<string, unknown> };
            const box = globalThis as typeof globalThis & { before: Record<string, unknown> };
            box.before ??= { ...provider };
            provider[one] = fails
              ? async () => {
                  throw new Error('no storage');
                }
              : box.before[one];
          },
          name,
          is,
        );
      await failing('uploadStream', true);
      const [none] = await move('public', 'cv');
      expect(none).toMatchObject({ moved: 0, failed: [{ message: 'no storage' }, { message: 'no storage' }] });
      expect([await read('cv', 'una'), await read('cv'), (await kept()).length]).toEqual([200, 404, 3]);
      await failing('uploadStream', false);
      expect(await move('public', 'cv')).toMatchObject([{ moved: 2, failed: [] }]);
      expect(await read('cv')).toBe(200);
      await failing('delete', true);
      const [half] = await move('private', 'cv');
      expect(half).toMatchObject({ moved: 0, failed: [{}, {}] });
      // Its bytes are at both places, but its address is the private one.
      expect([await read('cv', 'una'), await read('cv')]).toEqual([200, 404]);
      await failing('delete', false);
      expect(await move('private', 'cv')).toMatchObject([{ moved: 2, failed: [] }]);
      expect([await read('cv', 'una'), await libraryNames(stage)]).toEqual([200, ['s.png']]);
    });

    test('are gone with their records, at either place', async () => {
      await move('public', 'cv');
      await stage.send({ as: 'mona', send: 'DELETE cv/records' });
      await expect.poll(() => libraryNames(stage)).toEqual([]);
      expect(await kept()).toEqual([]);
    });
  });

  describe('of a visitor without a login', () => {
    /** A browser: it keeps its cookies, and the token of its page. */
    const visitor = async (app = 'mine') => {
      const first = await stage.send({ send: `GET ${app}/blocks/apply`, accept: html });
      const cookie = (first.headers['set-cookie'] ?? []).map((one) => one.split(';')[0]).join('; ');
      const headers = { cookie, 'x-csrf-token': await stage.csrf('anonymous') };
      const send = <T = object>(line: string, more: Partial<RowRequest> = {}) =>
        stage.send<T>({ send: line, ...more, headers: { ...headers, ...more.headers } });
      const save = async (parts: Part[]) => {
        const body = formBody([...parts, { name: '_save', content: '1' }]);
        const answer = await send<{ id: string }>(`POST ${app}/blocks/apply`, {
          body,
          headers: { 'content-type': 'multipart/form-data; boundary=b' },
        });
        expect(answer.status, answer.text).toBe(201);
        return answer.json.id;
      };
      return { cookie, send, save };
    };

    afterAll(async () => {
      await stage.send({ as: 'mona', send: 'DELETE mine/records' });
      await vi.waitFor(async () => expect(await kept()).toEqual([]));
    });

    test('belong to the cookie: lists, searches, counts, pages, forms and files know it', async () => {
      const [ann, bob] = [await visitor(), await visitor()];
      expect(ann.cookie).toMatch(/^apps_visitor=/);
      const [mine, other] = [
        await ann.save([{ name: 'name', content: 'Ann' }, attach]),
        await bob.save([{ name: 'name', content: 'Bob' }, attach]),
      ];
      const { json: items } = await ann.send<Items>(`GET mine/record/${mine}`);
      expect(items.cv.url).toContain('/mine/files/');
      const at = (url: string) => url.replace(stage.host.url, '');
      expect((await ann.send(`GET ${at(items.cv.url)}`, { accept: '*/*' })).bytes.equals(pdf)).toBe(true);
      for (const who of [bob, await visitor()])
        for (const path of [at(items.cv.url), `mine/record/${mine}`])
          expect((await who.send(`GET ${path}`, { accept: '*/*' })).status).toBe(404);
      const foreign: Record<string, string>[] = [
        { cookie: `${ann.cookie}x` },
        { cookie: '' },
        { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
      ];
      for (const headers of foreign)
        expect((await ann.send(`GET ${at(items.cv.url)}`, { accept: '*/*', headers })).status).toBe(404);
      const ids = async (who: typeof ann, line: string) =>
        (await who.send<{ id: string }[]>(line)).json.map(({ id }) => id);
      expect([await ids(ann, 'GET mine/records'), await ids(bob, 'GET mine/records')]).toEqual([[mine], [other]]);
      expect(await ids(ann, 'GET mine/search?query=')).toEqual([mine]);
      expect((await ann.send('GET mine/records.csv')).text).not.toContain('Bob');
      for (const [who, name] of [
        [ann, 'Ann'],
        [bob, 'Bob'],
        [ann, 'Ann'],
      ] as const) {
        const page = await who.send('GET mine/blocks/own', { accept: html });
        expect(page.text).toContain(`[${name}] 1 of 2`);
      }
      expect((await (await visitor()).send('GET mine/blocks/own', { accept: html })).text).toContain('[] 0 of 2');
      expect((await bob.send(`PATCH mine/record/${mine}`, { json: { name: 'x' } })).status).toBe(404);
      expect((await ann.send(`PATCH mine/record/${mine}`, { json: { name: 'Anna' } })).status).toBe(200);
      expect((await ann.send('GET mine/blocks/own', { accept: html })).text).toContain('[Anna] 1 of 2');
      const form = await ann.send(`POST mine/record/${mine}`, {
        body: formBody([
          { name: 'name', content: 'Ann' },
          { name: 'photo', file: 'me.png', content: png },
          { name: '_save', content: '1' },
        ]),
        headers: { 'content-type': 'multipart/form-data; boundary=b' },
        accept: html,
      });
      expect([form.status, (await stage.items('mine', mine))?.photo]).toEqual([
        303,
        expect.objectContaining({ name: 'me.png' }),
      ]);
      expect((await bob.send(`DELETE mine/record/${mine}`)).status).toBe(404);
      expect((await ann.send(`DELETE mine/record/${mine}`)).status).toBe(200);
      expect(await ids(bob, 'GET mine/records')).toEqual([other]);
    });

    test('belong to nobody without `visitor: true`, and to nobody who has no cookie', async () => {
      const { send } = await visitor('cv');
      expect((await send('GET cv/records')).status).toBe(401);
      const without = await post('anonymous', [attach], 'mine/blocks/apply');
      expect(without.status).toBe(201);
      expect((await stage.send({ send: 'GET mine/records' })).status).toBe(401);
      expect((await stage.send({ send: `GET mine/record/${without.json.id}` })).status).toBe(401);
    });
  });

  test('leave nothing of a save that fails, nor of a process that ended while it stored one', async () => {
    expect((await post('una', [{ name: 'name', content: 'copies' }, attach])).status).toBe(422);
    expect(await kept()).toEqual([]);
    await stage.host.run(async (strapi) => {
      const main = { mime: 'text/plain', size: 1, provided: null };
      const content = { name: 'a.txt', width: null, height: null, provider: null, main, thumbnail: null };
      const row = { site: 'site', app: 'cv', saved: true, released: 'earlier', private: true, content };
      await strapi.db.query('plugin::apps.file').create({ data: { ...row, file: 'abandoned' } });
    });
    await writeFiles(folder('kept', 'ab'), { abandoned: 'x', 'abandoned.0123456789abcdef': 'part' });
    await stage.send({ as: 'mona', send: `DELETE cv/record/${(await made('una')).id}` });
    await expect.poll(kept).toEqual([]);
  });

  test('are at the upload provider where that is private, at addresses that it signs when they are asked for', async () => {
    await stage.host.run((strapi) => {
      const { provider } = strapi.plugin('upload') as unknown as { provider: Record<string, unknown> };
      const box = globalThis as typeof globalThis & { stored: Map<string, string>; signed: number };
      Object.assign(box, { stored: new Map(), signed: 0, before: { ...provider } });
      const keyOf = ({ hash, ext }: { hash: string; ext: string }) => `${hash}${ext}`;
      Object.assign(provider, {
        isPrivate: async () => true,
        uploadStream: async (file: { hash: string; ext: string; url: string; stream: AsyncIterable<Buffer> }) => {
          const chunks: Buffer[] = [];
          for await (const chunk of file.stream) chunks.push(chunk);
          box.stored.set(keyOf(file), Buffer.concat(chunks).toString('latin1'));
          file.url = `https://bucket.example/${keyOf(file)}`;
        },
        delete: async (file: { hash: string; ext: string }) => void box.stored.delete(keyOf(file)),
        getSignedUrl: async (file: { hash: string; ext: string }) => {
          box.signed += 1;
          return { url: `https://signed.example/${keyOf(file)}?signature=${box.signed}` };
        },
      });
    });
    const stored = () =>
      stage.host.run(() => [...(globalThis as typeof globalThis & { stored: Map<string, string> }).stored.keys()]);
    try {
      const before = await kept();
      const { id, items } = await made('una', [attach, { name: 'photo', file: 'me.png', content: wide(600, 300) }]);
      const { cv, photo } = items as Record<'cv' | 'photo', File>;
      expect(await kept()).toEqual(before);
      expect((await stored()).sort()).toEqual(
        [`apps_${cv.documentId}.pdf`, `apps_${photo.documentId}.png`, `apps_thumbnail_${photo.documentId}.png`].sort(),
      );
      expect(cv.url).toContain(`/site/@@apps/cv/files/${cv.documentId}/`);
      const one = await get('una', cv.url);
      const two = await get('una', cv.url);
      expect([one.status, one.headers['cache-control'], one.headers['referrer-policy']]).toEqual([
        302,
        'private, no-store',
        'no-referrer',
      ]);
      expect(one.headers.location).toMatch(/^https:\/\/signed\.example\/apps_.*\.pdf\?signature=\d+$/);
      expect(two.headers.location).not.toBe(one.headers.location);
      expect((await get('una', `${photo.url}?thumbnail`)).headers.location).toContain('apps_thumbnail_');
      const refused = await get('nina', cv.url);
      expect([refused.status, refused.headers.location]).toEqual([404, undefined]);
      const everything = await stage.host.run(async (strapi) =>
        JSON.stringify([
          await strapi.db.query('plugin::apps.file').findMany(),
          await strapi.db.query('plugin::apps.record').findMany(),
        ]),
      );
      expect(everything).not.toContain('signature');
      await stage.send({ as: 'mona', send: `DELETE cv/record/${id}` });
      await expect.poll(stored).toEqual([]);
    } finally {
      await stage.host.run((strapi) => {
        const { provider } = strapi.plugin('upload') as unknown as { provider: Record<string, unknown> };
        Object.assign(provider, (globalThis as typeof globalThis & { before: object }).before);
      });
    }
  });
});
