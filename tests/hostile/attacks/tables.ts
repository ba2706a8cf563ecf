import type { Attack, AttackArena } from './attack';

/** Records of an app that anyone may fill: many small ones, and some with as many names as they may have, each their own. */
const SMALL = 5_000;
const WIDE = 11;

async function prepare({ host }: Pick<AttackArena, 'host'>): Promise<void> {
  await host.run(
    async (strapi, [small, wide]: [number, number]) => {
      const store = strapi.plugin('apps').service('records').store();
      const key = { site: 'site', app: 'tables' };
      if ((await store.count(key, new Map())) > 0) return;
      async function* records() {
        for (let at = 0; at < small; at += 1) {
          const id = `r${at}`;
          if (at % 400 === 0 && at / 400 < wide) {
            const names = Array.from({ length: 1_000 }, (_, name) => [`n${at}-${name}`, `=${name};=1`]);
            yield { id: `wide${at}`, creator: null, items: Object.fromEntries(names) };
          }
          yield { id, creator: null, items: { title: `title ${at}` } };
        }
      }
      await store.createMany(key, records());
    },
    [SMALL, WIDE] as [number, number],
  );
}

const files = {
  'apps/tables/settings.yaml': "acl:\n  rights:\n    editor: ['*']\n",
  'apps/tables/blocks/one.yaml': 'elements: { title: TEXT }\n',
};

const tables = (name: string, path: string, count: number): Attack => ({
  name: `tables-${name}`,
  files,
  prepare,
  requests: Array.from({ length: count }, () => ({ method: 'GET', path: `/site/@@apps/tables/${path}` })),
  status: 200,
  has: /^\ufeff?id,title,n0-0,.*,\(more\)\r\n/,
  within: 10_000,
});

/** Tables of records, of which some have names that no other has. */
export const wideTables: readonly Attack[] = [
  { ...tables('records', 'records.csv', 1), short: true },
  tables('records-at-once', 'records.csv', 6),
  tables('search-at-once', 'search.csv', 4),
];
