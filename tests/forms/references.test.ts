import { beforeAll, describe, expect, test } from 'vitest';
import { useStage, useThemes } from '../support/hooks';
import { article, grantArticles } from '../support/seed';
import { locationOf } from '../support/send';
import { html } from '../support/stage';
import { type Form, type Refusal, tags } from './fields/form';
import { referencesApp } from './references/app';
import { referencesInBrowsers } from './references/browsers';
import { referencesInEntries } from './references/entries';
import { referencesInLogic } from './references/logic';

/** References to content and to records (docs/reference/definitions.md#references). */
const themes = useThemes(async (copy) => {
  for (const [file, text] of Object.entries(referencesApp)) await copy.write(`main/${file}`, text);
});
const stage = useStage(() => ({ themesDirectory: themes.directory }));

const block = 'talks/blocks/talk';
let news = '';
let draft = '';

beforeAll(async () => {
  await grantArticles(stage.host, 'Public');
  await grantArticles(stage.host, 'readers');
  const titles = [...Array.from({ length: 120 }, (_, n) => `Topic ${String(n).padStart(3, '0')}`), 'Zebras & <b>'];
  const topics = titles.map((title, n) => ({ block: 'topic', title, open: n % 50 === 0 }));
  await stage.send({ send: 'POST topics/records', as: 'mona', json: topics });
  for (const [id, more] of [
    ['zebra', { title: 'Last <b>' }],
    ['a/b', { title: 'With slash', open: true }],
  ] as const)
    await stage.send({ send: `PUT topics/record/${id}`, as: 'mona', json: { block: 'topic', ...more } });
  await stage.send({ send: 'PUT topics/record/other', as: 'mona', json: { title: 'Of no block', open: true } });
  await stage.send({ send: 'PUT secret/record/n1', as: 'eric', json: { block: 'note', title: 'Secret note' } });
  [news, draft] = (await stage.host.run(async (strapi, uid) => {
    const make = (data: object, status: 'draft' | 'published') =>
      strapi.documents(uid as never).create({ data, status } as never);
    const first = await make({ title: 'News <1>', slug: 'news-1' }, 'published');
    const second = await make({ title: 'Draft', slug: 'draft-1' }, 'draft');
    return [first.documentId, second.documentId];
  }, article)) as [string, string];
});

const post = (form: Form, as = 'anonymous', path = block, accept = html) =>
  stage.send<Refusal>({ send: `POST ${path}`, as, accept, form });
const get = (path: string, as = 'anonymous') => stage.send({ send: `GET ${path}`, as, accept: html });
const options = (text: string, name: string) => {
  const [, inner = ''] = new RegExp(`<select[^>]* name="${name}"[^>]*>(.*?)</select>`, 's').exec(text) ?? [];
  return [...inner.matchAll(/<option value="([^"]*)"[^>]*>([^<]*)</g)].map(([, value, label]) => [value, label]);
};

/** The boxes of a reference with `multiple`: id, label, and whether it is chosen. */
const boxes = (text: string, name: string) =>
  [
    ...text.matchAll(
      new RegExp(
        `<input [^>]*name="${name}" type="checkbox" value="([^"]*)"( checked)?[^>]*> <label[^>]*>([^<]*)<`,
        'g',
      ),
    ),
  ].map(([, id = '', checked, label = '']) => ({ id, label, checked: checked !== undefined }));

describe('a form with references', () => {
  test('offers what the requester may see, at most 100', async () => {
    const { text } = await get(block);
    expect(options(text, 'topic')).toHaveLength(101);
    expect(boxes(text, 'open').map(({ label }) => label)).toEqual([
      'Topic 000',
      'Topic 050',
      'Topic 100',
      'With slash',
      'Of no block',
    ]);
    expect(options(text, 'note')).toEqual([['', '']]);
    expect(options((await get(block, 'rita')).text, 'note')).toEqual([
      ['', ''],
      ['n1', 'Secret note'],
    ]);
    const articles = options(text, 'article');
    expect(articles).toContainEqual([news, 'News &lt;1&gt;']);
    expect(articles.map(([id]) => id)).not.toContain(draft);
    expect(tags(text, 'topic:find')).toHaveLength(1);
    expect(tags(text, 'open:find')).toEqual([]);
    expect(text).toContain('There are more than 100');
  });

  test('looks for a part of the text, and keeps what was chosen and entered', async () => {
    const { status, text } = await post({
      name: 'kept',
      topic: 'a/b',
      'topic:find': 'ZEBRA',
      'topic:search': '1',
      _save: '1',
    });
    expect(status).toBe(200);
    expect(options(text, 'topic').map(([, label]) => label)).toEqual(['', 'With slash', 'Zebras &amp; &lt;b&gt;']);
    expect(text).toContain('<option value="a/b" selected>');
    expect(text).toContain('value="kept"');
    expect(tags(text, 'topic:find')[0]).toMatch(/value="ZEBRA".* autofocus/);
    const none = await post({ 'topic:find': 'no such', 'topic:search': '1' });
    expect(none.text).toContain('Nothing was found.');
  });

  test('stores ids, shows links, and gives layouts the fields', async () => {
    const ids = boxes((await get(block)).text, 'open').map(({ id }) => id);
    const made = await post(
      { topic: 'zebra', open: [ids[0] ?? '', 'a/b'], note: 'n1', article: news, _save: '1' },
      'rita',
    );
    expect(made.status).toBe(303);
    const path = locationOf(made).pathname;
    expect((await stage.send({ send: `GET ${path}` })).json).toMatchObject({
      topic: 'zebra',
      open: [ids[0], 'a/b'],
      note: 'n1',
      article: news,
    });
    const shown = (await get(path, 'rita')).text;
    expect(shown).toMatch(/<a class="apps-reference" href="[^"]*\/topics\/record\/zebra">Last &lt;b&gt;<\/a>/);
    expect(shown).toContain('<b>Last &lt;b&gt;</b>');
    expect(shown).toContain('<i>news-1</i>');
    expect(shown).toContain('<u>With slash</u>');
    expect(shown).toContain('>Secret note</a>');
    expect(shown).toMatch(/href="[^"]*\/articles\/news-1">News &lt;1&gt;<\/a>/);
    const others = (await get(path)).text;
    expect(others).not.toContain('Secret note');
    const found = await stage.send<object[]>({ send: 'POST talks/search', json: { query: 'topic == "zebra"' } });
    expect(found.json).toHaveLength(1);
  });

  test('a block has its records offered, however many of others are older', async () => {
    const others = Array.from({ length: 1_001 }, () => ({ block: 'booking' }));
    expect((await stage.send({ send: 'POST rooms/records', json: others })).status).toBe(201);
    await stage.put('rooms', 'new', { block: 'room', title: 'Attic' });
    expect((await get('rooms/blocks/booking')).text).toContain('<option value="new">Attic</option>');
  });

  test('several are chosen ones first, each once, at most as many as `max`', async () => {
    const ids = boxes((await get(block)).text, 'few').map(({ id }) => id);
    const [first = '', second = '', third = ''] = ids;
    const chosen = ['a/b', first, 'a/b'];
    const shown = await post({ topic: 'zebra', few: chosen, 'few:find': 'Topic 05', 'few:search': '1', name: 'kept' });
    expect(boxes(shown.text, 'few')).toEqual([
      { id: 'a/b', label: 'With slash', checked: true },
      { id: first, label: 'Topic 000', checked: true },
      { id: second, label: 'Topic 050', checked: false },
    ]);
    expect(shown.text).toMatch(/class="apps-chosen">.*class="apps-offered">/s);
    const made = await post({ topic: 'zebra', few: chosen, _save: '1' });
    const { json } = await stage.send<{ few: string[] }>({ send: `GET ${locationOf(made).pathname}` });
    expect(json.few).toEqual(['a/b', first]);
    const refused = await post({ topic: 'zebra', few: [first, second, third], _save: '1' });
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('Please choose at most 2 entries.')]);
    expect(boxes(refused.text, 'few').filter(({ checked }) => checked)).toHaveLength(3);
    const found = await stage.send<object[]>({ send: 'POST talks/search', json: { query: '"a/b" in few' } });
    expect(found.json).toHaveLength(1);
  });

  test.each<[string, Form, string, string[]]>([
    ['nothing', {}, 'anonymous', ['topic']],
    ['an id that does not exist', { topic: 'nothing' }, 'anonymous', ['topic']],
    ['an id that no record can have', { topic: '../x\n' }, 'anonymous', ['topic']],
    ['a record of another block', { topic: 'other' }, 'anonymous', ['topic']],
    ['a record that the query does not find', { topic: 'zebra', open: 'zebra' }, 'anonymous', ['open']],
    ['one that is not seen', { topic: 'zebra', note: 'n1' }, 'anonymous', ['note']],
    ['one that is seen', { topic: 'zebra', note: 'n1' }, 'rita', []],
    ['a draft', { topic: 'zebra', article: 'DRAFT' }, 'anonymous', ['article']],
    ['more than `max`', { topic: 'zebra', few: ['a/b', 'x', 'y'] }, 'anonymous', ['few']],
    ['a query', { topic: 'zebra', open: "') or ('' in any ('" }, 'anonymous', ['open']],
    ['too many', { topic: 'zebra', open: Array.from({ length: 51 }, (_, n) => `a${n}`) }, 'anonymous', ['open']],
    ['one many times', { topic: 'zebra', open: Array.from({ length: 51 }, () => 'a/b') }, 'anonymous', []],
    ['a name of the prototype', { topic: '__proto__' }, 'anonymous', ['topic']],
  ])('%s', async (_what, form, as, wrong) => {
    const sent = { ...form, ...(form.article === 'DRAFT' && { article: draft }), _save: '1' };
    const { status, json } = await post(sent, as, block, 'application/json');
    expect([status, json.error?.details.errors.map(({ path }) => path[0]) ?? []]).toEqual([
      wrong.length ? 422 : 201,
      wrong,
    ]);
  });

  test('is shown without a link when its target is gone', async () => {
    await stage.send({ send: 'PUT topics/record/gone', as: 'mona', json: { block: 'topic', title: 'Gone' } });
    const path = locationOf(await post({ topic: 'gone', _save: '1' })).pathname;
    expect((await get(path)).text).toContain('>Gone</a>');
    await stage.send({ send: 'DELETE topics/record/gone', as: 'mona' });
    const { status, text } = await get(path);
    expect([status, text.includes('<b></b>')]).toEqual([200, true]);
    expect(text).not.toContain('Gone</a>');
    expect((await post({ topic: 'gone', _save: '1' })).status).toBe(422);
  });

  test('is kept in a record by one who may not see it', async () => {
    const path = locationOf(await post({ topic: 'zebra', note: 'n1', _save: '1' }, 'rita')).pathname;
    const { text } = await get(`${path}/edit`);
    expect(text).toContain('<option value="n1" selected>n1</option>');
    expect((await post({ topic: 'zebra', note: 'n1', name: 'x', _save: '1' }, 'anonymous', path)).status).toBe(303);
    expect((await stage.send({ send: `GET ${path}` })).json).toMatchObject({ name: 'x', note: 'n1' });
    const other = locationOf(await post({ topic: 'zebra', _save: '1' })).pathname;
    expect((await post({ topic: 'zebra', note: 'n1', _save: '1' }, 'anonymous', other)).status).toBe(422);
  });

  test('takes any stored value for reading', async () => {
    for (const [at, topic] of [{ a: '<b>' }, [1, { b: 2 }], 7, true, 'x'.repeat(2_000)].entries()) {
      await stage.keep('talks', `kept-${at}`, { block: 'talk', topic, open: topic, article: topic });
      const path = `/site/@@apps/talks/record/kept-${at}`;
      expect([(await get(path)).status, (await get(`${path}/edit`)).status]).toEqual([200, 200]);
    }
  });

  test.each(['app', 'type'])('names the missing %s', async (name) => {
    const { status, text } = await get(`lost/blocks/${name}`, 'mona');
    expect(status).toBe(500);
    expect(text).toMatch(/There is no (?:app &quot;nowhere&quot;|content type &quot;api::nothing.nothing&quot;)/);
  });
});

describe('a search for records by a text index', () => {
  const find = async (name: string, text: string) => {
    const form = { [`${name}:find`]: text, [`${name}:search`]: '1' };
    return options((await post(form, 'anonymous', 'words/blocks/choice')).text, name).flatMap(([id, label]) =>
      id ? [label] : [],
    );
  };

  beforeAll(async () => {
    const words = Array.from({ length: 1_100 }, (_, n) => ({ block: 'word', title: `Common ${n}`, open: true }));
    await stage.send({ send: 'POST words/records', as: 'mona', json: words });
    const late = [
      { title: 'Zebra crossing', open: true },
      { title: 'Zebra closed', open: false },
    ];
    await stage.send({ send: 'POST words/records', as: 'mona', json: late.map((one) => ({ block: 'word', ...one })) });
  });

  test.each<[string, string, string[]]>([
    ['any', 'zebr', ['Zebra crossing', 'Zebra closed']],
    ['any', 'CROSS zeb', ['Zebra crossing']],
    ['word', 'zebra', ['Zebra crossing']],
    ['any', 'ebra', []],
    ['any', '" ) or (', []],
    ['any', 'Zebra -crossing', ['Zebra crossing']],
  ])('%s: %s', async (name, text, labels) => {
    const found = await find(name, text);
    if (text.startsWith('"')) expect(found.length).toBeLessThan(1_000);
    else expect(found.sort()).toEqual([...labels].sort());
  });
});

referencesInEntries(stage);
referencesInLogic(stage);
referencesInBrowsers(stage);
