import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { fromBufferPromise } from 'yauzl';
import { formBody, heldIn, pdf } from '../forms/files/send';
import { attach, type File, wide } from '../forms/private/tools';
import { availableClients } from '../support/databases';
import { keptFiles } from './object-storage/kept-files';
import { filesIn, form, useProcesses } from './object-storage/processes';

const clients = (await availableClients()).filter((client) => client !== 'mysql');

describe.each(clients)('object storage of the plugin, on %s', (client) => {
  const processes = useProcesses(client, (store) => ({
    apps: { filesProvider: store.provider('records', 'private') },
    upload: store.provider('pictures', 'public-read'),
  }));
  const { stage, twin, folder, ask, read, made, remove, names, onDisk, store, other } = processes;

  test('public pictures, with their small ones, are in the bucket of the media library, and gone with their record', async () => {
    const { id, items } = await made(stage.host, [
      { name: 'name', content: 'Una' },
      { name: 'shop', file: 'shop.png', content: wide(600, 300) },
    ]);
    const seen = await ask(twin, 'mona', { method: 'GET', path: `/site/@@apps/cv/record/${id}` });
    expect(seen.json.shop).toEqual(items.shop);
    for (const url of [items.shop.url, items.shop.thumbnail as string]) {
      const picture = await fetch(url);
      expect([url, picture.status, picture.headers.get('content-type')]).toEqual([url, 200, 'image/png']);
    }
    expect((await names('pictures')).length).toBeGreaterThan(1);
    expect((await remove(twin, id)).status).toBeLessThan(300);
    await expect.poll(() => names('pictures')).toEqual([]);
  });

  test('private files are read through each process by those with the right alone, in parts too', async () => {
    const photo = wide(600, 300);
    const { id, items } = await made(stage.host, [attach, { name: 'photo', file: 'me.png', content: photo }]);
    const { cv, photo: picture } = items as Record<'cv' | 'photo', File>;
    const objects = [
      `apps_${cv.documentId}.pdf`,
      `apps_${picture.documentId}.png`,
      `apps_thumbnail_${picture.documentId}.png`,
    ];
    expect(await names('records')).toEqual([...objects].sort());
    expect(await onDisk()).toEqual([]);
    for (const host of [stage.host, twin]) {
      const whole = await read(host, 'una', cv.url);
      expect([whole.status, whole.bytes.equals(pdf)]).toEqual([200, true]);
      expect(whole.headers).toMatchObject({
        'content-type': 'application/pdf',
        'content-length': String(pdf.length),
        'content-disposition': 'inline; filename="My CV.pdf"',
        'cache-control': 'private, no-cache',
      });
      for (const who of ['nina', 'anonymous']) expect((await read(host, who, cv.url)).status).toBe(404);
    }
    const part = await read(twin, 'una', cv.url, { range: 'bytes=5-9' });
    expect([part.status, part.text, part.headers['content-range']]).toEqual([
      206,
      pdf.toString('latin1', 5, 10),
      `bytes 5-9/${pdf.length}`,
    ]);
    const end = await read(twin, 'una', cv.url, { range: 'bytes=-4' });
    expect([end.status, end.bytes.equals(pdf.subarray(-4))]).toEqual([206, true]);
    expect((await read(twin, 'una', cv.url, { range: 'bytes=999-' })).status).toBe(416);
    const tag = String(part.headers.etag);
    expect((await read(twin, 'una', cv.url, { 'if-none-match': tag })).status).toBe(304);
    const head = await read(twin, 'una', cv.url, {}, 'HEAD');
    expect([head.status, head.headers['content-length'], head.text]).toEqual([200, String(pdf.length), '']);
    expect((await read(twin, 'una', `${picture.url}?thumbnail`)).bytes.readUInt32BE(16)).toBe(245);
    expect((await read(twin, 'una', `${cv.url}?thumbnail`)).status).toBe(404);
    for (const name of objects) expect([name, (await store().unsigned('records', name)).status]).toEqual([name, 403]);
    await remove(twin, id);
    await expect.poll(() => names('records')).toEqual([]);
    expect((await read(stage.host, 'una', cv.url)).status).toBe(404);
  });

  test('a large file goes there in several parts, and back byte for byte', async () => {
    const content = Buffer.concat([pdf, randomBytes(9 * 1024 * 1024)]);
    const { id, items } = await made(twin, [{ name: 'cv', file: 'large.pdf', content }]);
    const { status, bytes } = await read(stage.host, 'una', items.cv.url);
    expect([status, bytes.equals(content)]).toEqual([200, true]);
    const [from, to] = [6_000_000, 6_099_999];
    const part = await read(stage.host, 'una', items.cv.url, { range: `bytes=${from}-${to}` });
    expect([part.status, part.bytes.equals(content.subarray(from, to + 1))]).toEqual([206, true]);
    await remove(stage.host, id);
    await expect.poll(() => names('records')).toEqual([]);
  });

  keptFiles(processes, client === clients.at(-1));

  test('exports have the bytes of files that another process has stored', async () => {
    const { id, items } = await made(stage.host, [{ name: 'name', content: 'Una' }, attach]);
    const who = await stage.user('una');
    const headers = { 'x-apps-person': encodeURIComponent(who.email) };
    const { status, bytes, text } = await ask(twin, 'guardian', {
      method: 'GET',
      path: '/apps/persons/export',
      headers,
    });
    expect(status, text).toBe(200);
    const zip = await fromBufferPromise(bytes, { lazyEntries: true });
    const contents: Buffer[] = [];
    for await (const entry of zip.eachEntry())
      if (entry.fileName.startsWith('files/'))
        contents.push(Buffer.concat(await (await zip.openReadStreamPromise(entry)).toArray()));
    expect(contents.map((one) => one.equals(pdf))).toEqual([true]);
    const lines = await ask(stage.host, 'mona', {
      method: 'GET',
      path: '/site/@@apps/cv/records',
      headers: { accept: 'application/x-ndjson' },
    });
    expect(lines.text).toContain(items.cv.url);
    await remove(twin, id);
    await expect.poll(() => names('records')).toEqual([]);
  });

  test('files of a folder are moved there by `files private`, and go on where a move was ended', async () => {
    const { id, items } = await made(stage.host, [attach]);
    const documentId = items.cv.documentId;
    const kept = folder('one', 'kept', documentId.slice(0, 2));
    await mkdir(kept, { recursive: true });
    await writeFile(path.join(kept, documentId), pdf);
    // As a release without the store has left it.
    await stage.host.run(async (strapi, file) => {
      const [row] = await strapi.db.query('plugin::apps.file').findMany({ where: { file } });
      const content = typeof row.content === 'string' ? JSON.parse(row.content) : row.content;
      const main = { ...content.main, provided: null };
      await strapi.plugin('upload').provider.delete(content.main.provided);
      const data = { content: { ...content, provider: null, main } };
      await strapi.db.query('plugin::apps.file').updateMany({ where: { file }, data });
    }, documentId);
    expect([
      (await read(stage.host, 'una', items.cv.url)).status,
      (await read(twin, 'una', items.cv.url)).status,
    ]).toEqual([200, 404]);
    const move = () =>
      stage.host.run((strapi) => strapi.plugin('apps').service('files').move('private', 'cv') as Promise<object[]>);
    expect(await move()).toMatchObject([{ moved: 1, there: 0, failed: [] }]);
    expect(await onDisk()).toEqual([]);
    expect((await read(twin, 'una', items.cv.url)).bytes.equals(pdf)).toBe(true);
    expect(await move()).toMatchObject([{ moved: 0, there: 1, failed: [] }]);
    await remove(twin, id);
    await expect.poll(() => names('records')).toEqual([]);
  });

  test('a store that is only read gives its files, takes none, and is emptied by `files private`', async () => {
    const { id, items } = await made(stage.host, [attach]);
    const emptying = await other({ filesProvider: { ...store().provider('records', 'private'), readOnly: true } });
    const inFolder = async () => (await filesIn(folder('other', 'kept'))).length;
    expect((await read(emptying, 'una', items.cv.url)).bytes.equals(pdf)).toBe(true);
    const later = await made(emptying, [attach]);
    expect([await inFolder(), (await names('records')).length]).toEqual([1, 1]);
    const moved = await emptying.run(
      (strapi) => strapi.plugin('apps').service('files').move('private', 'cv') as Promise<object[]>,
    );
    expect(moved).toMatchObject([{ moved: 1, there: 1, failed: [] }]);
    expect([await inFolder(), await names('records')]).toEqual([2, []]);
    for (const { items: all } of [{ items }, later])
      expect((await read(emptying, 'una', all.cv.url)).bytes.equals(pdf)).toBe(true);
    for (const one of [id, later.id]) await remove(emptying, one);
    await expect.poll(inFolder).toBe(0);
    await emptying.stop();
  });

  test('a store that is away is 503 with Retry-After, and nothing is lost', async () => {
    const { id, items } = await made(stage.host, [attach]);
    await store().stop();
    const away = await read(twin, 'una', items.cv.url);
    expect([away.status, away.headers['retry-after'], away.headers['content-disposition']]).toEqual([
      503,
      '10',
      undefined,
    ]);
    const body = formBody([attach, { name: '_save', content: '1' }]);
    const unsaved = await ask(twin, 'una', {
      method: 'POST',
      path: '/site/@@apps/cv/blocks/apply',
      headers: form,
      body,
    });
    expect([unsaved.status, unsaved.headers['retry-after']]).toEqual([503, '10']);
    expect((await remove(twin, id)).status).toBeLessThan(300);
    await store().start();
    const again = await made(stage.host, [attach]);
    expect((await read(twin, 'una', again.items.cv.url)).status).toBe(200);
    // Its objects are removed by the next look at what is released.
    await remove(stage.host, again.id);
    await expect.poll(() => names('records'), { timeout: 10_000 }).toEqual([]);
    expect((await heldIn(folder('two', 'held'))).length).toBe(0);
  });
});

describe("object storage of Strapi's private provider", () => {
  const processes = useProcesses('sqlite', (store) => ({ apps: {}, upload: store.provider('records', 'private') }));
  const { stage, twin, read, made, remove, names, onDisk, store } = processes;

  test('private files lead to addresses that it signs, from each process', async () => {
    const { id, items } = await made(stage.host, [attach]);
    const { status, headers } = await read(twin, 'una', items.cv.url);
    expect(status).toBe(302);
    const signed = await fetch(String(headers.location));
    expect([signed.status, Buffer.from(await signed.arrayBuffer()).equals(pdf)]).toEqual([200, true]);
    expect((await store().unsigned('records', `apps_${items.cv.documentId}.pdf`)).status).toBe(403);
    expect((await read(twin, 'nina', items.cv.url)).status).toBe(404);
    expect(await onDisk()).toEqual([]);
    await remove(twin, id);
    await expect.poll(() => names('records')).toEqual([]);
  });

  keptFiles(processes, false);
});
