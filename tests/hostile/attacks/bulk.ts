import type { Attack, AttackArena, HealthyRequest } from './attack';

/** Files of an app whose records are created in bulk. */
const files = {
  'apps/bulk/settings.yaml': "acl:\n  rights:\n    editor: ['*']\n",
  'apps/bulk/blocks/record.yaml': `elements:
  author: { type: TEXT, index_type: field }
  total: { type: NUMBER, index_type: field }
  body: { type: TEXT, index_type: text }
`,
  'apps/bulk/blocks/record.html': '{author}',
};

const root = '/site/@@apps/bulk';
/** What other visitors do meanwhile: a page in the theme, a block, a record, a search, a new record. */
const healthy: readonly HealthyRequest[] = [
  { method: 'GET', path: `${root}/blocks/record`, headers: { accept: 'text/html' } },
  { method: 'GET', path: `${root}/record/steady` },
  {
    method: 'POST',
    path: `${root}/search`,
    json: { query: 'total == 7', sort_index: 'total', reverse: true, limit: 20 },
  },
  { method: 'GET', path: `${root}/records?limit=20` },
  { method: 'POST', path: root, json: { author: 'visitor', total: 7 } },
];

/** An app with one record, whose indexes are built. */
async function prepare({ host }: Pick<AttackArena, 'host'>): Promise<void> {
  await host.run(async (strapi) => {
    const store = strapi.plugin('apps').service('records').store();
    const key = { site: 'site', app: 'bulk' };
    await store.clear(key);
    const items = { author: 'steady', total: 1, body: 'steady' };
    await store.transact((unit: { create(key: object, record: object): Promise<object> }) =>
      unit.create(key, { id: 'steady', items, creator: null }),
    );
    const indexes = [
      ['author', 'field'],
      ['total', 'field'],
      ['body', 'text'],
    ] as const;
    await store.refresh(key, new Map(indexes), { rebuild: false });
  });
}

const lines = (count: number): string =>
  Array.from({ length: count }, (_, at) =>
    JSON.stringify({ author: `a${at % 500}`, total: at, body: `word${at % 300} some more text` }),
  ).join('\n');

const attackOf = (name: string, count: number, more: Partial<Attack> = {}): Attack => ({
  name,
  files,
  prepare,
  requests: [{ path: `${root}/records`, body: lines(count), headers: { 'content-type': 'application/x-ndjson' } }],
  healthy,
  status: 201,
  within: 120_000,
  ...more,
});

/** Bodies with many records, whose length is free. */
export const bulk: readonly Attack[] = [
  attackOf('bulk-ndjson', 100_000),
  attackOf('bulk-small', 5_000, { short: true }),
  // A table whose many columns would be looked at for each of many blocks, and whose rows are all too short.
  attackOf('bulk-columns', 0, {
    requests: [
      {
        path: `${root}/records`,
        body: [`block${','.repeat(16_383)}`, ...Array.from({ length: 150_000 }, (_, at) => at.toString(36))].join('\n'),
        headers: { 'content-type': 'text/csv' },
      },
    ],
    status: 400,
    short: true,
  }),
  attackOf('bulk-refused-last', 100_000, {
    requests: [
      {
        path: `${root}/records`,
        body: `${lines(100_000)}\n{"id":"twice"}\n{"id":"twice"}`,
        headers: { 'content-type': 'application/x-ndjson' },
      },
    ],
    status: 409,
  }),
];
