import type { Message } from '../../support/send';
import { fuzzedSearch, vocabulary } from '../fuzz/search';
import type { Attack, AttackArena } from './attack';

/** Files of an app whose records are searched. */
const files = {
  'apps/searched/settings.yaml': "acl:\n  rights:\n    editor: ['*']\n",
  'apps/searched/blocks/record.yaml': `elements:
  body: { type: TEXT, index_type: text }
  title: { type: TEXT, index_type: text }
  author: { type: TEXT, index_type: field }
  total: { type: NUMBER, index_type: field }
  missing: { type: TEXT, index_type: field }
  tags: { type: TEXT, index_type: keyword }
`,
};

/** Makes 30,000 records that hold the same twenty words, each in an order of its own; once a host. */
async function prepare({ host }: Pick<AttackArena, 'host'>): Promise<void> {
  await host.run(async (strapi, words: string[]) => {
    const store = strapi.plugin('apps').service('records').store();
    const key = { site: 'site', app: 'searched' };
    const indexes = new Map(
      Object.entries({
        body: 'text',
        title: 'text',
        author: 'field',
        total: 'field',
        missing: 'field',
        tags: 'keyword',
      }),
    );
    if ((await store.count(key, indexes)) > 0) return;
    async function* records() {
      for (let at = 0; at < 30_000; at += 1) {
        const order = [...words];
        for (let last = order.length - 1; last > 0; last -= 1) {
          const other = (at * 7919 + last * 104_729) % (last + 1);
          [order[last], order[other]] = [order[other] as string, order[last] as string];
        }
        const text = order.join(' ');
        const items = {
          body: `${text} w${at}`,
          title: order.slice(0, 4).join('-'),
          author: `a${at % 10}`,
          total: at % 1000,
          tags: [`t${at % 5}`],
        };
        yield { id: String(at), creator: null, items };
      }
    }
    await store.createMany(key, records());
    await store.refresh(key, indexes, { rebuild: false });
  }, vocabulary);
}

const searches = (bodies: readonly object[]): Partial<Message>[] =>
  bodies.map((json) => ({ path: '/site/@@apps/searched/search', json }));

const at = (index: number) => vocabulary[index % vocabulary.length];
/** Different phrases of three words that all records hold. */
const phrases = (count: number) =>
  Array.from({ length: count }, (_, index) => `"${at(index)} ${at(index * 3 + 1)} ${at(index * 7 + 2)}"`);
const text = (q: string, more: object = {}) => ({ query: 'q in body', names: { q }, limit: 20, ...more });

const relevance = { sort_index: 'body' };
const many = (count: number, json: object) => Array.from({ length: count }, () => json);

/** Over the bounds: refused before any query to the database. */
const refused: Record<string, [object, RegExp]> = {
  '330 phrases': [text(phrases(330).join(' or '), relevance), /more than \d+ (phrases|words|alternatives)/],
  '330 phrases in the query': [
    {
      query: `${phrases(330)
        .map((phrase) => `'${phrase.slice(0, 12)}"' in body`)
        .join('|')
        .slice(0, 10_000)}|'a' in body`,
    },
    /Bad query/,
  ],
  '1,000 words': [text('alpha beta '.repeat(500)), /more than 300 words/],
  'a text of a megabyte': [text('alpha '.repeat(150_000)), /more than 10000 characters/],
  'a megabyte of marks': [text(`a${'\u0301\u0316'.repeat(250_000)}`), /more than 10000 characters/],
  'letters that become eighteen': [text('\ufdfa'.repeat(300_000)), /more than 10000 characters/],
  '1,000 alternatives': [text('alpha or '.repeat(200)), /more than 100 alternatives/],
  '1,000 prefixes': [text('a* '.repeat(100)), /more than 20 prefixes/],
  '2,000 comparisons': [{ query: Array.from({ length: 1_500 }, () => 'id<1').join('|') }, /more than 250 conditions/],
};

/** Within the bounds: answered, or refused after the time limit. */
const costly: Record<string, object[]> = {
  '60 phrases': [text(phrases(60).join(' or '), relevance)],
  '60 phrases, all': [text(phrases(60).join(' '), relevance)],
  '60 excluded phrases': [
    text(
      phrases(60)
        .map((phrase) => `-${phrase}`)
        .join(' '),
      { with_total: true },
    ),
  ],
  'twelve of 7 kB': many(12, {
    query: phrases(90)
      .map((phrase) => `'${phrase}' in body`)
      .join(' or '),
    ...relevance,
  }),
  'forty of 60 phrases': many(40, text(phrases(60).join(' or '), relevance)),
  'all words': many(4, text(vocabulary.join(' '), relevance)),
  'any word': many(4, text(vocabulary.join(' or '), { ...relevance, with_total: true })),
  'twenty prefixes': many(4, text(vocabulary.map((word) => `${word.slice(0, 1)}*`).join(' '), relevance)),
  'comparisons without an end': many(4, {
    query: Array.from({ length: 240 }, (_, index) => `total!=${index + 5_000}`).join('&'),
    sort_index: 'author',
    with_total: true,
  }),
  'a distant page': many(4, { query: '', offset: 29_990, sort_index: 'total', reverse: true }),
  'lists of a thousand': many(4, {
    query: 'tags in any(list) or not tags in all(list)'.replace(/^/, "'x' in body or "),
    names: { list: Array.from({ length: 499 }, (_, index) => `k${index}`) },
    with_total: true,
  }),
  'marks on every letter': many(4, text(`a${'\u0301\u0316'.repeat(4_000)}`)),
};

/** Seeds of the slowest of 300 searches that fuzz/search.ts makes, in order. */
const seeds = [
  4, 139, 207, 200, 267, 295, 174, 108, 41, 181, 106, 149, 55, 251, 62, 157, 61, 20, 254, 105, 270, 100, 235, 199, 110,
  258, 215, 178, 205, 220, 40, 256, 93, 113, 136, 233, 262, 123, 96, 30, 122, 224, 170, 148, 85,
];

const inLogic: Attack = {
  name: 'search-logic-transaction',
  // Records that logic has written are searched in its transaction, on the one connection of SQLite.
  block: {
    js: `export const f = (context) => {
  const searched = context.get_app('searched');
  context.app.create_record();
  let failed = 0;
  for (let i = 0; i < 20; i += 1) {
    try { searched.search(${JSON.stringify(phrases(60).join(' or '))} && 'q in body', { names: { q: ${JSON.stringify(phrases(60).join(' or '))} }, sort_index: 'body', limit: 20 }); }
    catch { failed += 1; }
  }
  return failed;
};`,
  },
  files,
  prepare,
  status: [200, 500, 503, 504],
  within: 5_000,
};

export const search: readonly Attack[] = [
  ...Object.entries(refused).map(
    ([name, [json, has]]): Attack => ({
      name: `search-${name.replaceAll(/[ ,]+/g, '-')}`,
      files,
      prepare,
      requests: searches([json]),
      status: 400,
      has,
      within: 500,
    }),
  ),
  ...Object.entries(costly).map(
    ([name, bodies]): Attack => ({
      name: `search-${name.replaceAll(/[ ,]+/g, '-')}`,
      files,
      prepare,
      requests: searches(bodies),
      status: [200, 503],
      within: 5_000,
      short: name === '60 phrases' || name.startsWith('twelve'),
    }),
  ),
  inLogic,
  ...seeds.map(
    (seed): Attack => ({
      name: `search-seed-${seed}`,
      files,
      prepare,
      requests: searches(many(3, fuzzedSearch(seed))),
      status: [200, 503],
      within: 5_000,
    }),
  ),
];
