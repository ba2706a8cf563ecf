import { describe, expect, test } from 'vitest';
import { configured } from '../support/configure';
import { useFolder, useStage } from '../support/hooks';
import { html } from '../support/stage';
import { hostileFiles } from './files/hostile';
import { pictures } from './files/pictures';
import { type Answer, formBody, heldIn, libraryNames, type Part, pdf, png, sendBody as sendTo } from './files/send';

const folder = useFolder('files');
/** Files that wait for a form have 4 MiB, of which a sender has an eighth: two small ones. */
const limits = { keptSize: 4 * 1024 * 1024 };
const stage = useStage(() => ({ env: configured({ apps: { temporaryDirectory: folder('held'), limits } }) }));

const block = 'forms/blocks/files';

const sendBody = (body: Buffer | string, target = block, accept = html, headers = {}) =>
  sendTo(stage, body, target, accept, headers);

const post = (parts: Part[], target?: string, accept?: string) =>
  sendBody(formBody([{ name: 'name', content: 'Ann' }, ...parts, { name: '_save', content: '1' }]), target, accept);

/** The files that wait in the temporary folder. */
const held = () => heldIn(folder('held'));

/** Names of the files in the media library. */
const names = () => libraryNames(stage);

const recordOf = async ({ location }: Answer) => {
  const at = new URL(location).pathname;
  return {
    at,
    items: (await stage.send<Record<string, never>>({ send: `GET ${at}` })).json as Record<string, unknown>,
  };
};

describe('files of a form', () => {
  test('are in the media library when the record is saved, and gone with it', async () => {
    const saved = await post([
      { name: 'cv', file: 'My CV.pdf', content: pdf },
      { name: 'photo', file: 'me.png', content: png },
      { name: 'more', file: 'a.txt', content: 'first' },
      { name: 'more', file: 'b.csv', content: 'a,b\n1,2' },
    ]);
    expect([saved.status, saved.text]).toEqual([303, expect.anything()]);
    const { at, items } = await recordOf(saved);
    expect(items).toMatchObject({
      name: 'Ann',
      kind: 'application/pdf',
      cv: { name: 'My CV.pdf', mime: 'application/pdf', size: pdf.length, url: expect.stringContaining('/uploads/') },
      photo: { name: 'me.png', mime: 'image/png', width: 1, height: 1 },
      more: [
        { name: 'a.txt', mime: 'text/plain', size: 5 },
        { name: 'b.csv', mime: 'text/csv' },
      ],
    });
    expect(await names()).toEqual(expect.arrayContaining(['My CV.pdf', 'me.png', 'a.txt', 'b.csv']));
    await expect.poll(held).toEqual([]);
    const { url } = items.cv as { url: string };
    expect((await fetch(new URL(url, stage.host.url))).status).toBe(200);

    const read = await stage.send({ send: `GET ${at}`, accept: html });
    expect(read.text).toContain(`href="${url}" type="application/pdf">My CV.pdf</a>`);
    expect(read.text).toMatch(/<img class="apps-image" src="[^"]+" alt="me" width="1" height="1" loading="lazy">/);
    expect(read.text).toContain('<ul class="apps-files">');

    const edit = await stage.send({ send: `GET ${at}/edit`, accept: html });
    expect(edit.text).toContain('enctype="multipart/form-data"');
    expect(edit.text.match(/type="checkbox" value="stored:[^"]+" checked/g)).toHaveLength(4);
    const [, first] = /value="(stored:[^"]+)" checked[^>]*> <label[^>]*>Keep <a[^>]*>a\.txt/.exec(edit.text) ?? [];

    const changed = await post(
      [
        { name: 'photo', file: 'new.png', content: png },
        { name: 'more', content: first ?? '' },
      ],
      at.replace('/site/@@apps/', ''),
    );
    expect(changed.status).toBe(303);
    const after = (await recordOf(changed)).items;
    expect(after).toMatchObject({ cv: null, photo: { name: 'new.png' }, more: [{ name: 'a.txt' }] });
    await expect.poll(names).toEqual(['a.txt', 'new.png']);

    expect((await stage.send({ send: `DELETE ${at}` })).status).toBe(200);
    await expect.poll(names).toEqual([]);
  });

  test('move to another field of their record, by the rules of that field', async () => {
    const parts: Part[] = ['a.txt', 'b.txt'].map((file) => ({ name: 'more', file, content: file }));
    const { at, items } = await recordOf(await post(parts));
    const [a, b] = items.more as object[];
    const patch = (json: object) => stage.send({ send: `PATCH ${at}`, json });
    expect(await patch({ photo: a })).toMatchObject({
      status: 422,
      json: { error: { details: { errors: [{ path: ['photo'], message: expect.stringContaining('a.txt') }] } } },
    });
    expect((await patch({ cv: a, more: [b] })).status).toBe(200);
    expect((await patch({ cv: b, more: [a] })).status).toBe(200);
    const after = (await stage.send({ send: `GET ${at}` })).json;
    expect(after).toMatchObject({ cv: { name: 'b.txt' }, more: [{ name: 'a.txt' }] });
    expect(await names()).toEqual(['a.txt', 'b.txt']);
    await stage.send({ send: `DELETE ${at}` });
    await expect.poll(names).toEqual([]);
  });

  test('a failed save leaves nothing', async () => {
    const before = await names();
    const failed = await sendBody(
      formBody([
        { name: 'name', content: 'fails' },
        { name: 'cv', file: 'x.pdf', content: pdf },
        { name: '_save', content: '' },
      ]),
    );
    expect(failed.status).toBe(500);
    expect(await names()).toEqual(before);
    await expect.poll(held).toEqual([]);
  });

  test('a file is kept while other fields are wrong', async () => {
    const wrong = await sendBody(
      formBody([
        { name: 'cv', file: 'x.pdf', content: pdf },
        { name: 'more', file: 'empty.txt', content: '' },
        { name: '_save', content: '' },
      ]),
    );
    expect(wrong.status).toBe(422);
    expect(wrong.text).toContain('The file is empty.');
    const [, entry] = /name="cv" type="checkbox" value="(kept:[^"]+)" checked/.exec(wrong.text) ?? [];
    expect(entry).toBeDefined();
    const other = await post([{ name: 'more', content: entry ?? '' }], block, 'application/json');
    expect([other.status, other.errors[0]?.path]).toEqual([422, ['more']]);
    const saved = await post([{ name: 'cv', content: entry ?? '' }]);
    expect(saved.status).toBe(303);
    const { at, items } = await recordOf(saved);
    expect(items.cv).toMatchObject({ name: 'x.pdf', size: pdf.length });
    await expect.poll(held).toEqual([]);
    const again = await post([{ name: 'cv', content: entry ?? '' }], block, 'application/json');
    expect(again.errors).toEqual([{ path: ['cv'], message: expect.stringContaining('no longer there') }]);
    await stage.send({ send: `DELETE ${at}` });
    // Files are removed after the answer.
    await expect.poll(names).toEqual([]);
  });

  const wrong = (file: string, content: string | Buffer, more: Part[] = []) =>
    sendBody(formBody([{ name: 'cv', file, content }, ...more, { name: '_save', content: '' }]));
  const keptIn = ({ text }: Answer, name: string) =>
    new RegExp(`name="${name}" type="checkbox" value="(kept:[^"]+)" checked`).exec(text)?.[1];

  test('a file that finds no room is asked for again beside its field', async () => {
    const large: Part = { name: 'photo', file: 'large.png', content: Buffer.concat([png, Buffer.alloc(600 * 1024)]) };
    const shown = await sendBody(formBody([large, { name: '_save', content: '' }]));
    expect([shown.status, keptIn(shown, 'photo')]).toEqual([422, undefined]);
    expect(shown.text.match(/Please choose the file again\./g)).toHaveLength(1);
    expect(shown.text).toMatch(/<input[^>]* name="photo" type="file"[^>]* aria-invalid="true"/);
    await expect.poll(held).toEqual([]);
  });

  test('a kept file that has given way to newer ones is asked for again, and the record is not saved without it', async () => {
    const entry = keptIn(await wrong('first.pdf', pdf), 'cv') ?? '';
    const second = keptIn(await wrong('second.pdf', pdf), 'cv') ?? '';
    const third = keptIn(await wrong('third.pdf', pdf), 'cv') ?? '';
    const before = await stage.send<object[]>({ send: 'GET forms/records' });
    const refused = await post([{ name: 'cv', content: entry }]);
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('The chosen file is no longer there. Please choose it again.');
    const asked = await sendBody(
      formBody([
        { name: 'cv', content: entry },
        { name: 'action.rotate', content: '' },
      ]),
    );
    // An action is carried out, and its answer says so too.
    expect([asked.status, asked.text.includes('The chosen file is no longer there.')]).toEqual([200, true]);
    expect((await stage.send<object[]>({ send: 'GET forms/records' })).json).toHaveLength(before.json.length);
    for (const kept of [second, third])
      await stage.send({ send: `DELETE ${(await recordOf(await post([{ name: 'cv', content: kept }]))).at}` });
    await expect.poll(held).toEqual([]);
    await expect.poll(names).toEqual([]);
  });

  const refusals: [what: string, fields: Part[], status: number][] = [
    [
      'validate refuses',
      [
        { name: 'name', content: 'refused' },
        { name: '_save', content: '' },
      ],
      422,
    ],
    [
      'on_save refuses',
      [
        { name: 'name', content: 'late' },
        { name: '_save', content: '' },
      ],
      422,
    ],
    ['an action is carried out', [{ name: 'action.rotate', content: '' }], 200],
  ];
  test.each(refusals)('a file is kept while %s', async (_what, fields, status) => {
    const before = await names();
    const cv: Part = { name: 'cv', file: 'x.pdf', content: pdf };
    const shown = await sendBody(formBody([...fields, cv]));
    expect([shown.status, await names()]).toEqual([status, before]);
    const [, entry] = /name="cv" type="checkbox" value="(kept:[^"]+)" checked/.exec(shown.text) ?? [];
    const saved = await post([{ name: 'cv', content: entry ?? '' }]);
    const { at, items } = await recordOf(saved);
    expect(items.cv).toMatchObject({ name: 'x.pdf' });
    await expect.poll(held).toEqual([]);
    const other = await sendBody(formBody([...fields, cv]), block, 'application/json');
    expect(other.text).not.toContain('kept:');
    await expect.poll(held).toEqual([]);
    await stage.send({ send: `DELETE ${at}` });
    // Files are removed after the answer.
    await expect.poll(names).toEqual([]);
  });

  test('a form with an old token is shown again without its files, which are never taken', async () => {
    const before = [await names(), await held()];
    const parts: Part[] = [
      { name: '_csrf', content: 'old' },
      { name: 'name', content: 'Ann' },
      { name: 'cv', file: 'x.pdf', content: pdf },
      { name: '_save', content: '' },
    ];
    const shown = await sendBody(formBody(parts), block, html, { 'X-CSRF-TOKEN': '' });
    expect(shown.status).toBe(403);
    for (const part of ['value="Ann"', 'This form was open for too long', 'Please choose the file again.'])
      expect(shown.text).toContain(part);
    expect(shown.text).not.toContain('kept:');
    const foreign = { 'X-CSRF-TOKEN': '', 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
    const other = await sendBody(formBody(parts), block, html, foreign);
    expect([other.status, other.text.includes('Ann')]).toEqual([403, false]);
    expect([await names(), await held()]).toEqual(before);
  });

  test('files that a process which ended had still to remove are removed with the next ones', async () => {
    const saved = await recordOf(await post([{ name: 'cv', file: 'next.pdf', content: pdf }]));
    await stage.host.run(async (strapi) => {
      const left = { documentId: 'left', name: 'left', hash: 'l', url: '/l', mime: 'a/b', size: 1, provider: 'local' };
      await strapi.db.query('plugin::upload.file').create({ data: left });
      const released = { site: 'site', app: 'forms', saved: true, released: 'earlier' };
      // The media library has not stored the second one.
      for (const file of ['left', 'never'])
        await strapi.db.query('plugin::apps.file').create({ data: { ...released, file } });
    });
    expect(await names()).toEqual(['next.pdf', 'left']);
    await stage.send({ send: `DELETE ${saved.at}` });
    await expect.poll(names).toEqual([]);
    const listed = () => stage.host.run((strapi) => strapi.db.query('plugin::apps.file').count());
    await expect.poll(listed).toBe(0);
  });

  test('a file that another record names stays, and so does one that no form has stored', async () => {
    const first = await recordOf(await post([{ name: 'cv', file: 'shared.pdf', content: pdf }]));
    expect((await stage.send({ send: 'PUT forms/record/copy', json: { cv: first.items.cv } })).status).toBe(201);
    await stage.send({ send: `DELETE ${first.at}` });
    await expect.poll(names).toEqual(['shared.pdf']);
    expect((await stage.send({ send: 'DELETE forms/record/copy' })).status).toBe(200);
    await expect.poll(names).toEqual([]);
    const foreign = await stage.host.run(
      (strapi) =>
        strapi.db.query('plugin::upload.file').create({
          data: { documentId: 'foreign', name: 'f', hash: 'f', url: '/f', mime: 'a/b', size: 1, provider: 'local' },
        }) as Promise<{ documentId: string }>,
    );
    const claims = { ...(first.items.cv as object), documentId: foreign.documentId };
    await stage.send({ send: 'PUT forms/record/thief', json: { cv: claims } });
    await stage.send({ send: 'DELETE forms/record/thief' });
    await expect.poll(names).toEqual(['f']);
    await stage.host.run((strapi) => strapi.db.query('plugin::upload.file').deleteMany({ where: { name: 'f' } }));
  });
});

hostileFiles(stage, { block, sendBody, post, held, names });
pictures(stage, { block, post, held, names });
