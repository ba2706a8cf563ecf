/** Searches at scale, against SQL written by hand, the database's own full-text search, and Strapi's filter and sort. */

export const searches = [
  [
    'search, limit 20',
    async () => {
      const { store, key, four, median, raw } = globalThis.bench;
      const find = (app, options) => median(() => store.search(key(app), four, { limit: 20, ...options }));
      const lines = [];
      const range = { query: 'total > 500000', sortIndex: 'total' };
      const [small, large] = [await find('small', range), await find('large', range)];
      lines.push(
        `range + sort ${large.toFixed(2)} ms; of 10,000 ${small.toFixed(2)} ms, ${(large / small).toFixed(2)} times (goal: at most 1.5)`,
      );
      for (const [who, author, by] of [
        ['rare', 'user7919', 'total'],
        ['common', 'common', 'total'],
      ]) {
        const ours = await find('large', { query: `author == '${author}'`, sortIndex: by });
        const hand = await median(
          () =>
            raw(
              'select r.* from bench_fields f join apps_records r on r.id = f.record where f.author = ? order by f.total, f.record limit 20',
              [author],
            ),
          10,
        );
        lines.push(
          `${who} author + sort ${ours.toFixed(2)} ms; SQL by hand ${hand.toFixed(2)} ms, ${(ours / hand).toFixed(2)} times (goal: at most 2)`,
        );
      }
      lines.push(
        `reverse sort ${(await find('large', { sortIndex: 'total', reverse: true })).toFixed(2)} ms, offset 10,000 ${(await find('large', { ...range, offset: 10_000 })).toFixed(2)} ms`,
      );
      return lines;
    },
  ],
  [
    'word search by relevance, limit 20',
    async () => {
      const { store, key, four, median, raw, words, strapi } = globalThis.bench;
      const [first] = (await store.page(key('large'), { limit: 1 })).records;
      const [{ scope }] = await raw('select scope from apps_records where id = ?', [first.seq]);
      const engine = {
        sqlite: {
          make: [
            "create virtual table bench_text using fts5(body, content='')",
            `insert into bench_text (rowid, body) select id, json_extract(items, '$.body') from apps_records where scope = '${scope}'`,
          ],
          find: 'select rowid as record from bench_text where bench_text match ? order by rank limit 20',
          term: (word) => `"${word}"`,
        },
        postgres: {
          make: [
            'create table bench_text (record integer primary key, body tsvector)',
            `insert into bench_text select id, to_tsvector('simple', items::json->>'body') from apps_records where scope = '${scope}'`,
            'create index bench_text_body on bench_text using gin (body)',
            'analyze bench_text',
          ],
          find: "select record from bench_text, to_tsquery('simple', ?) q where body @@ q order by ts_rank(body, q) desc, record limit 20",
          term: (word) => word,
        },
        mysql: {
          make: [
            'create table bench_text (record integer not null primary key, body text, fulltext (body))',
            `insert into bench_text select id, json_unquote(json_extract(items, '$.body')) from apps_records where scope = '${scope}'`,
          ],
          find: 'select record from bench_text where match (body) against (?) limit 20',
          term: (word) => word,
        },
      }[strapi.db.dialect.client];
      for (const text of engine.make) await raw(text);
      const text = `select r.* from (${engine.find}) f join apps_records r on r.id = f.record`;
      const lines = [];
      for (const [what, word, times] of [
        ['rare word', words[4_321], 50],
        ['a word of every record', 'lorem', 5],
      ]) {
        const ours = await median(
          () => store.search(key('large'), four, { query: `'${word}' in body`, sortIndex: 'body', limit: 20 }),
          times,
        );
        const hand = await median(() => raw(text, [engine.term(word)]), times);
        lines.push(
          `${what} ${ours.toFixed(2)} ms; the database's own full-text query ${hand.toFixed(2)} ms, ${(ours / hand).toFixed(2)} times (goal for a rare word: at most 2)`,
        );
      }
      return lines;
    },
  ],
  [
    "filter and sort, limit 20, against Strapi's",
    async () => {
      const { store, key, four, median, raw, records, strapi } = globalThis.bench;
      const { client } = strapi.db.dialect;
      const [first] = (await store.page(key('large'), { limit: 1 })).records;
      const [{ scope }] = await raw('select scope from apps_records where id = ?', [first.seq]);
      // As many articles, with a number that is indexed.
      const text = client === 'postgres' ? 'text' : 'char(60)';
      await raw(
        `insert into articles (document_id, title, slug, published_at, created_at, updated_at) select hash, 'Bench', hash, created_at, created_at, created_at from apps_records where scope = '${scope}'`,
      );
      await raw(
        `update articles set summary = cast((id % 20000) * 104729 as ${client === 'sqlite' ? 'text' : text}) where title = 'Bench'`,
      );
      await raw(`create index bench_summary on articles (summary${client === 'mysql' ? '(60)' : ''}, id)`);
      if (client === 'postgres') await raw('analyze articles');
      const ours = await median(() =>
        store.search(key('large'), four, { query: 'total > 500000', sortIndex: 'total', limit: 20 }),
      );
      const filters = { summary: { $gt: '15' } };
      const theirs = await median(
        () =>
          strapi
            .documents('api::article.article')
            .findMany({ filters, sort: 'summary:asc', limit: 20, status: 'published' }),
        10,
      );
      return [
        `${ours.toFixed(2)} ms; Strapi's documents.findMany on ${records} articles ${theirs.toFixed(2)} ms, ${(theirs / ours).toFixed(1)} times as fast (goal: at least 5)`,
      ];
    },
  ],
];
