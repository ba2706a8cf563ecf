import { beforeAll, describe, expect, test } from 'vitest';
import { configured } from '../support/configure';
import { useFolder, useStage } from '../support/hooks';
import { html } from '../support/stage';
import { upload } from '../support/upload';
import { type Answer, formBody, heldIn, libraryNames, type Part, pdf, png, sendBody as sendTo } from './files/send';

const folder = useFolder('files');
const stage = useStage(() => ({ env: configured({ apps: { temporaryDirectory: folder('held') } }) }));

const block = 'forms/blocks/files';

const zip = (entry: string) =>
  Buffer.concat([Buffer.from('PK\x03\x04\x14\0\0\0\0\0', 'latin1'), Buffer.alloc(20), Buffer.from(entry)]);

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

/** What is wrong with a file, or the name and type under which it is stored. */
const hostile: [what: string, part: Part | Part[], answer: RegExp | { name: string; mime: string }][] = [
  ['HTML', { name: 'cv', file: 'a.html', type: 'text/plain', content: '<html><script>alert(1)</script>' }, /not taken/],
  ['HTML as text', { name: 'cv', file: 'a.txt', content: 'hello <b onclick=alert(1)>' }, /not taken/],
  ['HTML as PDF', { name: 'cv', file: 'a.pdf', type: 'application/pdf', content: '<!doctype html>' }, /not taken/],
  ['HTML after spaces', { name: 'cv', file: 'a.txt', content: `${' '.repeat(3000)}<script>` }, /not taken/],
  ['HTML with a byte order mark', { name: 'cv', file: 'a.txt', content: '\ufeff<svg onload=alert(1)>' }, /not taken/],
  ['UTF-16 HTML', { name: 'cv', file: 'a.txt', content: Buffer.from('\ufeff<script>', 'utf16le') }, /not taken/],
  [
    'SVG with a script',
    {
      name: 'photo',
      file: 'a.svg',
      type: 'image/svg+xml',
      content: '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
    },
    /not taken/,
  ],
  ['SVG as PNG', { name: 'photo', file: 'a.png', type: 'image/png', content: '<svg/>' }, /not taken/],
  ['SVG after XML', { name: 'more', file: 'a.xml', content: '<?xml version="1.0"?><svg/>' }, /not taken/],
  ['a script', { name: 'more', file: 'a.sh', content: '#!/bin/sh\nrm -rf /' }, /not taken/],
  ['a program', { name: 'more', file: 'a.exe', content: Buffer.from('MZ\x90\0\x03\0', 'latin1') }, /not taken/],
  ['a program of Linux', { name: 'more', file: 'a', content: Buffer.from('\x7fELF\x02\x01', 'latin1') }, /not taken/],
  ['a class', { name: 'more', file: 'a.class', content: Buffer.from('\xca\xfe\xba\xbe\0\0', 'latin1') }, /not taken/],
  ['bytes of no type', { name: 'more', file: 'a.pdf', content: Buffer.from([1, 2, 3, 0, 255]) }, /not taken/],
  ['no bytes', { name: 'cv', file: 'a.pdf', content: '' }, /empty/],
  ['too many bytes', { name: 'cv', file: 'a.txt', content: 'x'.repeat(100 * 1024 + 1) }, /larger than 100 kB/],
  ['a type that is not accepted', { name: 'cv', file: 'a.png', content: png }, /not taken here: a\.png/],
  ['a PDF as image', { name: 'photo', file: 'a.png', type: 'image/png', content: pdf }, /not taken here/],
  ['a broken image', { name: 'photo', file: 'a.png', content: png.subarray(0, 20) }, /could not be stored/],
  [
    'two files for one',
    [
      { name: 'cv', file: 'a.txt', content: 'a' },
      { name: 'cv', file: 'b.txt', content: 'b' },
    ],
    /one file only/,
  ],
  ['21 files', Array.from({ length: 21 }, (_, n) => ({ name: 'more', file: `${n}.txt`, content: 'x' })), /at most 20/],
  [
    '200 files',
    Array.from({ length: 200 }, (_, n) => ({ name: 'more', file: `${n}.txt`, content: 'x' })),
    /at most 20/,
  ],
  ['a stored file of others', { name: 'cv', content: 'kept:../../../etc/passwd' }, /no longer there/],
  ['a token that was never given', { name: 'cv', content: `kept:${'a'.repeat(32)}` }, /no longer there/],
  [
    'GIF with JavaScript',
    { name: 'more', file: 'a.js', content: 'GIF89a/*<script>*/=1;alert(1)' },
    /could not be stored/,
  ],
  [
    'PDF with HTML',
    { name: 'cv', file: 'a.html', content: '%PDF-1.4\n<html><script>alert(1)</script>' },
    { name: 'a.pdf', mime: 'application/pdf' },
  ],
  [
    'JPEG with PHP',
    { name: 'more', file: 'a.php', content: Buffer.concat([Buffer.from([255, 216, 255]), Buffer.from('<?php ?>')]) },
    /could not be stored/,
  ],
  [
    'ZIP with a document',
    { name: 'cv', file: 'a.docx', content: zip('word/document.xml') },
    { name: 'a.docx', mime: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document' },
  ],
  [
    'a PDF said to be HTML',
    { name: 'cv', file: 'a.pdf', type: 'text/html', content: pdf },
    { name: 'a.pdf', mime: 'application/pdf' },
  ],
  ['a path', { name: 'cv', file: '../../../etc/passwd', content: 'x' }, { name: 'passwd.txt', mime: 'text/plain' }],
  ['a path of Windows', { name: 'cv', file: 'C:\\\\x\\\\y.txt', content: 'x' }, { name: 'y.txt', mime: 'text/plain' }],
  ['a name with NUL', { name: 'cv', file: 'a.pdf\0.txt', content: 'x' }, { name: 'a pdf.txt', mime: 'text/plain' }],
  [
    'a name that reads backwards',
    { name: 'cv', file: 'a\u202Etxt.exe', content: 'x' },
    { name: 'a txt.txt', mime: 'text/plain' },
  ],
  [
    'a name with tags',
    { name: 'cv', file: '<img src=x onerror=alert(1)>.txt', content: 'x' },
    { name: 'img src x onerror alert(1).txt', mime: 'text/plain' },
  ],
  ['a name of dots', { name: 'cv', file: '....', content: 'x' }, { name: 'file.txt', mime: 'text/plain' }],
  ['a device', { name: 'cv', file: 'CON.txt', content: 'x' }, { name: 'file-CON.txt', mime: 'text/plain' }],
  ['a hidden file', { name: 'cv', file: '.htaccess', content: 'x' }, { name: 'file.txt', mime: 'text/plain' }],
  [
    'a long name',
    { name: 'cv', file: `${'n'.repeat(3000)}.txt`, content: 'x' },
    { name: `${'n'.repeat(100)}.txt`, mime: 'text/plain' },
  ],
  [
    'a name with full-width dots',
    { name: 'cv', file: '\uff0e\uff0e\u2215x.txt', content: 'x' },
    { name: '\uff0e\uff0e\u2215x.txt', mime: 'text/plain' },
  ],
  ['a combined letter', { name: 'cv', file: 'e\u0301.txt', content: 'x' }, { name: '\u00e9.txt', mime: 'text/plain' }],
  [
    'a broken emoji',
    { name: 'cv', file: `${'n'.repeat(99)}\u{1f600}.txt`, content: 'x' },
    { name: `${'n'.repeat(99)}.txt`, mime: 'text/plain' },
  ],
  ['two endings', { name: 'cv', file: 'a.php.txt', content: 'x' }, { name: 'a php.txt', mime: 'text/plain' }],
  [
    'a format string',
    { name: 'cv', file: '%s%n${x}{{y}}.txt', content: 'x' },
    { name: 's n x y.txt', mime: 'text/plain' },
  ],
];

describe('hostile files', () => {
  beforeAll(async () => {
    await stage.host.run((strapi) => strapi.db.query('plugin::upload.file').deleteMany({}));
  });

  test.each(hostile)('%s', async (_what, given, answer) => {
    const parts = [given].flat();
    const sent = await post(parts, block, 'application/json');
    if (answer instanceof RegExp) {
      expect([sent.status, sent.errors[0]?.message]).toEqual([422, expect.stringMatching(answer)]);
    } else {
      expect([sent.status, sent.errors]).toEqual([201, []]);
      const { id } = JSON.parse(sent.text) as { id: string };
      const { json } = await stage.send<Record<string, unknown>>({ send: `GET forms/record/${id}` });
      const item = [json[parts[0]?.name ?? '']].flat()[0] as { url: string };
      expect(item).toMatchObject(answer);
      const served = await fetch(new URL(item.url, stage.host.url));
      expect(served.headers.get('content-type') ?? '').toMatch(/^(?!text\/html|image\/svg)/);
      expect(served.headers.get('x-content-type-options')).toBe('nosniff');
      await stage.send({ send: `DELETE forms/record/${id}` });
    }
    await expect.poll(names).toEqual([]);
    await expect.poll(held).toEqual([]);
  });

  const file: Part = { name: 'cv', file: 'a.txt', content: 'x' };
  const broken: [what: string, body: Buffer | string, status: number][] = [
    ['a body without an end', formBody([file]).subarray(0, -6), 400],
    ['a body that ends in a file', formBody([file]).subarray(0, -12), 400],
    ['no parts', '', 200],
    ['text that is no form', 'hello', 400],
    ['another boundary', formBody([file], 'c'), 400],
    ['a file under the name of a text', formBody([{ ...file, name: 'name' }]), 415],
    ['a file without a name of a field', formBody([{ ...file, name: '' }]), 415],
    ['a file under the name __proto__', formBody([{ ...file, name: '__proto__' }]), 415],
    [
      'a nested form',
      formBody([
        { name: 'cv', file: 'x', type: 'multipart/mixed; boundary=c', content: formBody([file], 'c') },
        { name: '_save', content: '' },
      ]),
      422,
    ],
    ['1,200 fields', formBody(Array.from({ length: 1_200 }, (_, n) => ({ name: `f${n}`, content: 'x' }))), 400],
    ['fields larger than a body', formBody([{ name: 'name', content: 'x'.repeat(1_100_000) }]), 413],
    ['a field that is not UTF-8', formBody([{ name: 'name', content: Buffer.from([0xff]) }]), 400],
  ];
  test.each(broken)('%s', async (_what, body, status) => {
    expect((await sendBody(body)).status).toBe(status);
  });

  test('a sender without the token or the right fills no disk', async () => {
    const body = formBody([file, { name: '_save', content: '' }]);
    expect((await sendBody(body, block, html, { 'X-CSRF-TOKEN': '' })).status).toBe(403);
    const before = await held();
    const refused = await sendBody(body, 'restricted/blocks/files');
    expect([401, 403, 404]).toContain(refused.status);
    await expect.poll(held).toEqual(before);
  });

  test('1 GB that is announced, and what is sent beyond the limits, is refused early', async () => {
    const before = await held();
    const port = Number(new URL(stage.host.url).port);
    const at = `/site/@@apps/${block}`;
    const headers = { 'X-CSRF-TOKEN': await stage.csrf('anonymous') };
    const begin = '--b\r\nContent-Disposition: form-data; name="cv"; filename="a.txt"\r\n\r\n';
    const announced = await upload({ port, path: at, headers, begin, size: 1024 ** 3 });
    expect(announced.status).toBe(413);
    expect(announced.sent).toBeLessThan(32 * 1024 ** 2);
    const sent = await upload({ port, path: at, headers, begin, size: 120 * 1024 ** 2, chunked: true });
    expect(sent.status).toBe(413);
    await expect.poll(held).toEqual(before);
  });

  test('a stream that stops leaves nothing', async () => {
    const before = await held();
    const port = Number(new URL(stage.host.url).port);
    const headers = { 'X-CSRF-TOKEN': await stage.csrf('anonymous') };
    const begin = '--b\r\nContent-Disposition: form-data; name="cv"; filename="a.txt"\r\n\r\n';
    await upload({ port, path: `/site/@@apps/${block}`, headers, begin, size: 90_000, leaveAt: 70_000 });
    await expect.poll(held).toEqual(before);
    await expect.poll(names).toEqual([]);
  });
});
