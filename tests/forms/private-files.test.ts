import { describe, expect, test } from 'vitest';
import { runReused } from '../support/command-line';
import { configured } from '../support/configure';
import { availableClients } from '../support/databases';
import { writeFiles } from '../support/files';
import { useDatabase, useFolder, useStage, useThemes, useTwin } from '../support/hooks';
import { html } from '../support/stage';
import { hostEnvironment } from '../support/temporary-host';
import { repository } from '../support/theme';
import { libraryNames, pdf, png } from './files/send';
import { privateApps } from './private/apps';
import { attacks } from './private/attacks';
import { moves } from './private/moves';
import { attach, type File, type Items, privateTools, wide } from './private/tools';
import { visitors } from './private/visitors';

describe.each(await availableClients())('private files on %s', (client) => {
  const folder = useFolder('private');
  const themes = useThemes(privateApps);
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

  const tools = privateTools(stage, twin, (...names) => folder('kept', ...names));
  const { post, get, made, kept } = tools;

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

  test('that are gone are left out where a deleted record, or an earlier version, is restored', async () => {
    const { id, items } = await made('una', [
      { name: 'name', content: 'Una' },
      attach,
      { name: 'more:0:cv', file: 'b.txt', content: 'second' },
    ]);
    await stage.send({ as: 'mona', send: `DELETE cv/record/${id}` });
    await expect.poll(kept).toEqual([]);
    const history = `cv/history/${id}`;
    const { json } = await stage.send<{ version: number }[]>({ as: 'mona', send: `GET ${history}` });
    const restored = await stage.send({ as: 'mona', send: `POST ${history}`, json: { version: json[0]?.version } });
    expect(restored.status, restored.text).toBeLessThan(300);
    const back = await stage.send<Items>({ as: 'mona', send: `GET cv/record/${id}` });
    expect(back.json).toMatchObject({ name: 'Una', more: [] });
    expect(back.json.cv ?? null).toBeNull();
    expect(back.text).not.toContain(items.cv.documentId);
    await stage.send({ as: 'mona', send: `DELETE cv/record/${id}` });
  });

  attacks(tools);

  test("are read in the panel with the administrator's permission, and what it sends back changes nothing", async () => {
    const { id, items } = await made('una', [attach, { name: 'photo', file: 'me.png', content: wide(600, 300) }]);
    const panel = '/apps/sites/site/apps/cv';
    const file = (as: string, documentId: string, more = '') => get(as, `${panel}/record/file?id=${documentId}${more}`);
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
    const other = '/apps/sites/site/apps/twin/record/file';
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

  const run = (args: string[]) =>
    runReused(args, {
      cwd: repository,
      env: { ...hostEnvironment, ...options().env, NODE_ENV: 'test', APPS_THEMES_DIRECTORY: themes.directory },
    });
  moves(tools, client === 'sqlite' ? run : undefined);

  visitors(tools);

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
