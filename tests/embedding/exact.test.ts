import { describe, expect, test } from 'vitest';
import { useStage, useThemes } from '../support/hooks';
import { html } from '../support/stage';

const list = `export function found(context) {
  return context.app.search('size>1').map((record) => record.get('name')).join(',');
}`;

const themes = useThemes({
  'main/apps/kept/settings.yaml': 'debug: true\nacl: { rights: { reader: [Public], editor: [Public] } }\n',
  'main/apps/kept/blocks/item.yaml':
    'elements:\n  name: { type: TEXT, index_type: field }\n  size: { type: NUMBER, index_type: field }\n',
  'main/apps/kept/blocks/item.html': '<p>{name}, {size}</p>{_save}',
  'main/apps/kept/blocks/plain.html': '<p>{{ context.request.query.a }}</p>',
  'main/apps/kept/blocks/year.html': "<p>{{ 'now' | date: '%Y' }}</p>",
  'main/apps/kept/blocks/second.html': "<p>{{ 'now' | date: '%s' }}</p>",
  'main/apps/kept/blocks/luck.html': "{% assign list = 'a,b' | split: ',' %}{{ list | sample }}",
  'main/apps/kept/blocks/all.html': '{{ context.request.headers | json }}',
  'main/apps/kept/blocks/language.html': "<p>{{ context.parent_request.headers['accept-language'] }}</p>",
  'main/apps/kept/blocks/never.html': '<p>x</p>',
  'main/apps/kept/blocks/never.yaml': 'cache: false\n',
  'main/apps/kept/blocks/slow.html': '{spun}',
  'main/apps/kept/blocks/slow.js':
    'export function spun({ request }) { const end = request.query.n * 1e6; let n = 0; while (n < end) n += 1; return String(n); }',
  'main/apps/kept/blocks/slow.yaml': 'elements: { spun: BASIC }\n',
  'main/apps/kept/blocks/overtaken.html': '<p>{counted}</p>',
  'main/apps/kept/blocks/overtaken.js':
    'export function counted({ app }) { const found = app.count("size>100"); for (let n = 0; n < 6e8; ) n += 1; return String(found); }',
  'main/apps/kept/blocks/overtaken.yaml': 'elements: { counted: BASIC }\n',
  'main/apps/kept/blocks/list.html': '{found}',
  'main/apps/kept/blocks/list.js': list,
  'main/apps/kept/blocks/list.yaml': 'elements: { found: BASIC }\n',
});
const stage = useStage(() => ({ themesDirectory: themes.directory }));

async function shown(path: string, headers: Record<string, string> = {}, as = 'anonymous') {
  const { headers: answered, text } = await stage.send({ send: `GET ${path}`, accept: html, headers, as });
  return { cache: answered['x-apps-cache'], text };
}
const cacheOf = async (path: string, headers = {}, as?: string) => (await shown(path, headers, as)).cache;

describe('a block', () => {
  test.each<[block: string, states: string[]]>([
    ['plain', ['miss', 'hit', 'hit']],
    ['year', ['miss', 'hit', 'hit']],
    ['second', ['none; clock', 'none; clock']],
    ['luck', ['none; random', 'none; random']],
    ['never', ['none; off', 'none; off']],
    ['item', ['miss', 'hit', 'hit']],
    ['list', ['miss', 'hit', 'hit']],
  ])('%s: %j', async (block, states) => {
    const seen: unknown[] = [];
    for (const _ of states) seen.push(await cacheOf(`kept/blocks/${block}`));
    expect(seen).toEqual(states);
  });
});

test('a kept block has the query of each request that gets it', async () => {
  expect((await shown('kept/blocks/year')).text).not.toContain('data-apps-query');
  for (const query of ["utm=a&amp;b=%22'%3C", 'utm=c']) {
    const { cache, text } = await shown(`kept/blocks/year?${query.replace('&amp;', '&')}`);
    expect(cache).toBe('hit');
    expect(text).toContain(` data-apps-query="${query.replace("'", '%27')}"`);
  }
});

test('a visitor waits for the rendering that another one has begun only if it may be the same', async () => {
  expect(await cacheOf('kept/blocks/slow?n=0')).toBe('miss');
  const order: string[] = [];
  const asked = async (name: string, n: number) => {
    const cache = await cacheOf(`kept/blocks/slow?n=${n}`);
    order.push(`${name} ${cache}`);
  };
  const slow = asked('slow', 1_500);
  await new Promise((resolve) => setTimeout(resolve, 20));
  await Promise.all([slow, asked('same', 1_500), asked('other', 1)]);
  expect(order[0]).toBe('other miss');
  expect(order.slice(1).sort()).toEqual(['same hit', 'slow miss']);
});

test('a change during a rendering lets one of those that wait make the next, and the others wait for that', async () => {
  await shown('kept/blocks/overtaken');
  await stage.keep('kept', 'change', { block: 'item', size: 1_000 });
  const visitors = Array.from({ length: 12 }, () => shown('kept/blocks/overtaken'));
  await new Promise((resolve) => setTimeout(resolve, 150));
  await stage.keep('kept', 'change-2', { block: 'item', size: 2_000 });
  const states = (await Promise.all(visitors)).map(({ cache }) => cache);
  expect(states.filter((state) => state !== 'hit').length).toBeLessThanOrEqual(3);
  expect((await shown('kept/blocks/overtaken')).text).toContain('<p>2</p>');
});

test('a theme allows proxies to keep pages that are the same for all anonymous visitors', async () => {
  const controlOf = async (as: string) =>
    (await stage.send({ send: 'GET /site/', accept: html, as })).headers['cache-control'];
  expect(await controlOf('anonymous')).toBe('public, no-cache');
  await themes.write('main/theme.yaml', 's_maxage: 60\n');
  expect(await controlOf('anonymous')).toBe('public, max-age=0, s-maxage=60');
  expect(await controlOf('rita')).toBe('private, no-cache');
  // A cache tells pages apart by their address and by few headers. A part of a block without its form has no token.
  const shared = 'public, max-age=0, s-maxage=60';
  for (const [blocks, control] of [
    [['plain'], shared],
    [['language'], 'public, no-cache'],
    [['second'], shared],
    [['second', 'language'], 'public, no-cache'],
    [['never'], 'public, no-cache'],
  ] as const) {
    const rules = blocks.map((block) => `- append: main\n  include: /@@apps/kept/blocks/${block}\n  select: p\n`);
    await themes.write('main/rules.yaml', rules.join(''));
    for (const _ of [1, 2]) expect(await controlOf('anonymous'), String(blocks)).toBe(control);
  }
  await themes.write('main/rules.yaml', '');
  await themes.write('main/theme.yaml', 's_maxage: 0\n');
  expect(await controlOf('anonymous')).toBe('public, no-cache');
});

test('the header of a page names each of its blocks, with the reason', async () => {
  const timing = async () => {
    const { headers } = await stage.send({ send: 'GET /site/', accept: html });
    return String(headers['server-timing'])
      .replace(/dur=\d+\.\d/g, 'dur=0')
      .split(', ')
      .sort();
  };
  const template = '<main>{% block "kept/blocks/year" %}{% block "kept/blocks/second" %}</main>';
  await themes.write('main/templates/portal.html', template);
  await timing();
  const [year, second] = ['hit', 'none; clock'];
  expect(await timing()).toEqual([
    `block;desc="kept/second: ${second}";dur=0`,
    `block;desc="kept/year: ${year}";dur=0`,
    'page;desc="none; clock"',
  ]);
});
