import { describe, expect, test } from 'vitest';
import { configured } from '../support/configure';
import { useFolder, useStage, useThemes, useTwin } from '../support/hooks';
import { html } from '../support/stage';
import { fileAddresses, shownApp } from './files/addresses';
import { albumApp } from './files/album';
import { albumBrowsers } from './files/browsers';
import { panelFiles } from './files/panel';
import { type Answer, formBody, heldIn, libraryNames, type Part, pdf, png, sendBody } from './files/send';
import { fieldsOf, stepOf } from './pages/fields-of';

/** Files in the entries of repeated groups (docs/reference/definitions.md#repeated-groups). */
const folder = useFolder('files');
const themes = useThemes(async (copy) => {
  for (const [file, text] of Object.entries({ ...albumApp, ...shownApp })) await copy.write(`main/${file}`, text);
});
const stage = useStage(() => ({
  themesDirectory: themes.directory,
  env: configured({ apps: { temporaryDirectory: folder('held') } }),
}));

/** A process of the same site behind a public address with a path. */
const publicUrl = 'https://site.example/cms';
const twin = useTwin(stage, () => ({
  themesDirectory: themes.directory,
  env: { ...configured({ apps: { temporaryDirectory: folder('held-by-twin') } }), PUBLIC_URL: publicUrl },
}));

const block = 'album/blocks/album';
const json = 'application/json';
const names = async () => (await libraryNames(stage)).sort();
const text = (name: string, content: string): Part => ({ name, content });
const file = (name: string, given: string, content: Part['content'] = png): Part => ({ name, file: given, content });
const send = (parts: Part[], target = block, accept = html) => sendBody(stage, formBody(parts), target, accept);
const save = (parts: Part[], target = block, accept = html) =>
  send([text('title', 'A'), ...parts, text('_save', '1')], target, accept);

/** The form of an answer, filled in and sent as by a browser without scripts. */
const go = (shown: { text: string }, more: Part[], button: string, target = block) => {
  const fields = Object.entries(fieldsOf(shown.text)).flatMap(([name, value]) =>
    [value].flat().map((content) => text(name, content)),
  );
  const entered = new Set(more.flatMap((part) => (part.file === undefined ? part.name : [])));
  return send([...fields.filter(({ name }) => !entered.has(name)), ...more, text(button, '1')], target);
};

interface Row {
  caption: string;
  image: { name: string; url: string; documentId: string } | null;
  papers: { name: string }[];
}

async function recordOf({ location, text: body }: Answer) {
  const at = new URL(location || JSON.parse(body).url, stage.host.url).pathname;
  const { json: items } = await stage.send<{ photos: Row[]; urls: string[] }>({ send: `GET ${at}` });
  return { at, target: at.replace('/site/@@apps/', ''), ...items };
}
const rows = ({ photos }: { photos: Row[] }) =>
  photos.map(({ caption, image, papers }) => [caption, image?.name ?? null, ...papers.map(({ name }) => name)]);

/** Captions and kept files of a form's entries. */
const entriesOf = ({ text: page }: { text: string }) =>
  [...page.matchAll(/<fieldset class="apps-entry">.*?<\/fieldset>/gs)].map(([entry]) => [
    /:caption"[^>]* value="([^"]*)"/.exec(entry)?.[1] ?? '',
    ...[...entry.matchAll(/Keep (?:<a[^>]*>)?([^<(]*?)(?:<\/a>)? \(/g)].map(([, name]) => name),
  ]);

const remove = async (at: string) => {
  expect((await stage.send({ send: `DELETE ${at}` })).status).toBe(200);
  await expect.poll(names).toEqual([]);
  await expect.poll(() => heldIn(folder('held'))).toEqual([]);
};

describe('files in a repeated group', () => {
  test('are saved in the order of the entries, shown, moved and removed with them', async () => {
    const saved = await save([
      file('photos:5:image', 'late.png'),
      text('photos:5:caption', 'Late'),
      text('photos:2:caption', 'Early'),
      file('photos:2:image', 'early.png'),
      file('photos:2:papers', 'a.txt', 'a'),
      file('photos:2:papers', 'b.pdf', pdf),
      { name: 'photos:3:image', file: '', content: '' },
    ]);
    expect(saved.status).toBe(303);
    const first = await recordOf(saved);
    expect(rows(first)).toEqual([
      ['Early', 'early.png', 'a.txt', 'b.pdf'],
      ['Late', 'late.png'],
    ]);
    // Logic has their addresses when the record is saved.
    expect(first.urls).toEqual(first.photos.map(({ image }) => image?.url));
    const read = await stage.send({ send: `GET ${first.at}`, accept: html });
    expect(read.text).toMatch(/<dt>Image<\/dt><dd><img class="apps-image" src="[^"]+" alt="early" width="1"/);
    expect(read.text).toContain('<ul class="apps-files">');

    const edit = await stage.send({ send: `GET ${first.at}/edit`, accept: html });
    expect(edit.text).toContain('enctype="multipart/form-data"');
    expect(entriesOf(edit)).toEqual([
      ['Early', 'early.png', 'a.txt', 'b.pdf'],
      ['Late', 'late.png'],
    ]);
    const moved = await go(edit, [], 'photos:up:1', first.target);
    expect(entriesOf(moved)).toEqual([
      ['Late', 'late.png'],
      ['Early', 'early.png', 'a.txt', 'b.pdf'],
    ]);
    const changed = await go(moved, [file('photos:0:image', 'new.png')], '_save', first.target);
    expect(rows(await recordOf(changed))).toEqual([
      ['Late', 'new.png'],
      ['Early', 'early.png', 'a.txt', 'b.pdf'],
    ]);
    await expect.poll(names).toEqual(['a.txt', 'b.pdf', 'early.png', 'new.png']);

    const again = await stage.send({ send: `GET ${first.at}/edit`, accept: html });
    const shorter = await go(again, [], 'photos:remove:1', first.target);
    expect((await names()).length).toBe(4);
    expect(rows(await recordOf(await go(shorter, [], '_save', first.target)))).toEqual([['Late', 'new.png']]);
    await expect.poll(names).toEqual(['new.png']);
    await remove(first.at);
  });

  const errors: [what: string, title: string][] = [
    ['another field is wrong', ''],
    ['validate refuses', 'Refused'],
  ];
  test.each(errors)('stay with their entry while %s, and out of the media library', async (_what, title) => {
    const wrong = await send([
      text('title', title),
      text('photos:0', '1'),
      text('photos:0:caption', 'One'),
      file('photos:0:image', 'one.png'),
      text('photos:1', '1'),
      text('photos:1:caption', 'Two'),
      file('photos:1:image', 'two.png'),
      file('photos:1:papers', 'p.txt', 'p'),
      text('_save', '1'),
    ]);
    expect([wrong.status, await names()]).toEqual([422, []]);
    const added = await go(wrong, [file('photos:0:papers', 'late.txt', 'l')], 'photos:add');
    const down = await go(added, [], 'photos:down:0');
    expect(entriesOf(down)).toEqual([['Two', 'two.png', 'p.txt'], ['One', 'one.png', 'late.txt'], ['']]);
    expect(await names()).toEqual([]);
    const saved = await recordOf(await go(down, [text('title', 'A')], '_save'));
    expect(rows(saved)).toEqual([
      ['Two', 'two.png', 'p.txt'],
      ['One', 'one.png', 'late.txt'],
    ]);
    await remove(saved.at);
  });

  test('are kept on other pages of the form, sent there and stored before', async () => {
    const steps = 'album/blocks/steps';
    const begin = await stage.send({ send: `GET ${steps}`, accept: html });
    const row = [
      text('photos:0', '1'),
      text('photos:0:caption', 'One'),
      file('photos:0:image', 'one.png'),
      file('photos:3:papers', 'alone.txt', 'x'),
    ];
    const bad = await go(begin, row, '_next', steps);
    expect([bad.status, stepOf(bad.text)]).toEqual([422, 'Pictures']);
    expect(entriesOf(bad)).toEqual([
      ['One', 'one.png'],
      ['', 'alone.txt'],
    ]);
    const second = await go(bad, [text('photos:1:caption', 'Two')], '_next', steps);
    expect([second.status, stepOf(second.text)]).toEqual([200, 'Name']);
    const back = await go(second, [file('cover', 'cover.pdf', pdf)], '_back', steps);
    expect(entriesOf(back)).toHaveLength(2);
    const last = await go(back, [], '_next', steps);
    expect(last.text).toContain('Keep cover.pdf');
    const saved = await recordOf(await go(last, [text('title', 'A')], '_save', steps));
    expect(rows(saved)).toEqual([
      ['One', 'one.png'],
      ['Two', null, 'alone.txt'],
    ]);
    // The stored files of a page that is seen later are there, and saved again.
    const edit = await stage.send({ send: `GET ${saved.at}/edit`, accept: html });
    const next = await go(edit, [], '_next', saved.target);
    expect(next.text).toMatch(/Keep <a[^>]*>cover\.pdf/);
    const after = await recordOf(await go(next, [], '_save', saved.target));
    expect([rows(after), await names()]).toEqual([rows(saved), ['alone.txt', 'cover.pdf', 'one.png']]);
    await remove(saved.at);
  });

  test('a page on which nothing was left is shown so again', async () => {
    const steps = 'album/blocks/steps';
    const first = [text('_page', '0'), text('_seen', '0'), text('_next', '1')];
    const second = await send(first, steps);
    expect(stepOf(second.text)).toBe('Name');
    const back = await go(second, [], '_back', steps);
    expect(stepOf(back.text)).toBe('Pictures');
    expect(fieldsOf(back.text).more).toBeUndefined();
  });

  test('stay while another record names them; records take them as JSON', async () => {
    const first = await recordOf(await save([file('photos:0:image', 'shared.png'), text('photos:0:caption', 'a')]));
    const copy = { block: 'album', title: 'Copy', photos: first.photos };
    const copied = await stage.send({ send: 'PUT album/record/copy', json: copy });
    expect(copied.status, copied.text).toBe(201);
    await stage.send({ send: `DELETE ${first.at}` });
    expect(await names()).toEqual(['shared.png']);
    const { image } = first.photos[0] as Row;
    const patch = (photos: object[]) => stage.send({ send: 'PATCH album/record/copy', json: { photos } });
    expect((await patch([{ caption: 'moved' }, { caption: 'a', image }])).status).toBe(200);
    expect(await names()).toEqual(['shared.png']);
    expect((await patch([{ caption: 'moved' }])).status).toBe(200);
    await expect.poll(names).toEqual([]);
    await stage.send({ send: 'DELETE album/record/copy' });
  });

  const caption = text('photos:0:caption', 'a');
  const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);
  const broken: [what: string, parts: Part[], answer: number | string[]][] = [
    ['a text field', [file('photos:0:caption', 'a.png')], 415],
    ['no number', [file('photos:image', 'a.png')], 415],
    ['no field', [file('photos:0', 'a.png')], 415],
    ['an unknown field', [file('photos:0:other', 'a.png')], 415],
    ['a deeper name', [file('photos:0:image:0', 'a.png')], 415],
    ['a number that is none', [file('photos:x:image', 'a.png')], 415],
    ['a number that is too long', [file('photos:1234567890:image', 'a.png')], 415],
    ['the prototype', [file('__proto__:0:image', 'a.png')], 415],
    ['a file alone', [file('photos:7:image', 'a.png')], ['photos.0.caption']],
    ['a type that is not accepted', [caption, file('photos:0:image', 'a.png', pdf)], ['photos.0.image']],
    ['a file that is too large', [caption, file('photos:0:image', 'a.png', Buffer.alloc(103_000))], ['photos.0.image']],
    ['an empty file', [caption, file('photos:0:papers', 'a.txt', '')], ['photos.0.papers']],
    [
      'two files for one',
      [caption, file('photos:0:image', 'a.png'), file('photos:0:image', 'b.png')],
      ['photos.0.image'],
    ],
    ['21 files', [caption, ...numbers(21).map((n) => file('photos:0:papers', `${n}.txt`, 'x'))], ['photos.0.papers']],
    ['200 entries of files', numbers(200).map((n) => file(`photos:${n}:image`, `${n}.png`)), ['photos']],
    ['200 entries', numbers(200).map((n) => text(`photos:${n}:caption`, 'x')), ['photos']],
    ['a token that was never given', [caption, text('photos:0:image', `kept:${'a'.repeat(32)}`)], ['photos.0.image']],
    ['a file of others', [caption, text('photos:0:image', 'stored:foreign')], []],
    ['the file of another field', [caption, file('cover', 'c.pdf', pdf), text('photos:0:image', 'sent:cover')], []],
    ['a part that was not sent', [caption, text('photos:0:image', 'sent:photos:1:image')], []],
  ];
  test.each(broken)('%s', async (_what, parts, answer) => {
    const sent = await save(parts, block, json);
    if (typeof answer === 'number') expect(sent.status).toBe(answer);
    else expect(sent.errors.map(({ path }) => path.join('.'))).toEqual(answer);
    if (sent.status === 201) {
      const { at, photos } = await recordOf(sent);
      expect(rows({ photos })).toEqual([['a', null]]);
      await stage.send({ send: `DELETE ${at}` });
    }
    await expect.poll(names).toEqual([]);
    await expect.poll(() => heldIn(folder('held'))).toEqual([]);
  });
});

albumBrowsers(stage);

panelFiles(stage, () => folder('held'));

fileAddresses(stage, twin, () => publicUrl);
