import type { Message } from '../../support/send';
import { type Attack, type AttackArena, type HealthyRequest, healthyPage } from './attack';

const root = '/site/@@apps/ranges';

/** An app in which everyone searches and writes. */
const files = {
  'apps/ranges/settings.yaml': "acl: { rights: { editor: ['*'] } }\n",
  'apps/ranges/blocks/find.yaml': `elements:
  total: { type: NUMBER, index_type: field }
  title: { type: TEXT, index_type: field }
  body: { type: TEXT, index_type: text }
  found: BASIC
`,
  'apps/ranges/blocks/find.html': '<p>{found}</p>',
  'apps/ranges/blocks/find.js': `export const found = ({ app, request }) =>
  app.count('title == q', { names: { q: String(request.get('q')) } });
`,
  // A block of its own: one that goes over its limits is paused.
  'apps/ranges/blocks/many.yaml': 'elements: { many: { type: ACTION, label: Many } }\n',
  'apps/ranges/blocks/many.js': `/** Searches that are all different, and a record that depends on them. */
export function many({ app, request }) {
  const [from, count] = [Number(request.get('from')), Number(request.get('count'))];
  let sum = 0;
  for (let at = 0; at < count; at += 1) sum += app.count('total == n', { names: { n: from + at } });
  app.create_record().set('total', -1).set('sum', sum);
  return sum;
}
`,
};

/** Five hundred records, whose indexes are built; once for a host. */
async function prepare({ host }: Pick<AttackArena, 'host'>): Promise<void> {
  await host.run(async (strapi) => {
    const store = strapi.plugin('apps').service('records').store();
    const key = { site: 'site', app: 'ranges' };
    const indexes = new Map(Object.entries({ total: 'field', title: 'field', body: 'text' }));
    if ((await store.count(key, indexes)) > 0) return;
    async function* read() {
      for (let at = 0; at < 500; at += 1)
        yield { creator: null, items: { total: at, title: `t${at}`, body: 'some words '.repeat(20) } };
    }
    await store.createMany(key, read());
    await store.refresh(key, indexes, { rebuild: false });
  });
}

const list = <T>(length: number, make: (at: number) => T): T[] => Array.from({ length }, (_, at) => make(at));

const healthy: readonly HealthyRequest[] = [
  healthyPage,
  { method: 'GET', path: `${root}/blocks/find?q=t7`, headers: { accept: 'text/html' } },
  { method: 'POST', path: `${root}/search`, json: { query: 'total == 7', limit: 20 } },
  { method: 'POST', path: root, json: { total: -2, title: 'visitor' } },
];

/** `count` searches in each request of some clients, no two of them the same. */
const searches = (clients: number, count: number): Partial<Message>[] =>
  list(clients, (at) => ({ path: `${root}/blocks/many/many?from=${at * count}&count=${count}`, json: {} }));

/** Pages and elements that each search for something else. */
const visitors = (count: number): Partial<Message>[] =>
  list(count, (at) => ({
    method: 'GET',
    path: `${root}/blocks/find${at % 2 ? '' : '/found'}?q=q${at}`,
    headers: { accept: at % 2 ? 'text/html' : 'application/json' },
  }));

const writes = (count: number): Partial<Message>[] =>
  list(count, (at) => ({ path: root, json: { total: at % 500, title: `t${at}`, body: 'other words '.repeat(50) } }));

const attackOf = (name: string, requests: readonly Partial<Message>[], more: Partial<Attack> = {}): Attack => ({
  name: `ranges-${name}`,
  files,
  prepare,
  requests,
  healthy,
  status: [200, 201],
  within: 30_000,
  ...more,
});

/** Of many at once, some may be refused because the sandbox is busy, or because others change what they have read. */
const crowd = [200, 201, 409, 500, 503, 504];

/** Requests that search for very many different things, and writers that change what they have found. */
export const ranges: readonly Attack[] = [
  attackOf('a-thousand', searches(1, 990), { status: [200, 500] }),
  attackOf('a-thousand-of-eight', searches(8, 990), { status: crowd }),
  // Logic is ended after a thousand.
  attackOf('a-hundred-thousand', searches(1, 100_000), { status: 500 }),
  attackOf('a-hundred-thousand-of-eight', searches(8, 100_000), { status: crowd }),
  { ...attackOf('different-parameters', visitors(2_000), { status: crowd }), short: true },
  attackOf('writes', writes(2_000), { status: crowd }),
  {
    ...attackOf('searches-and-writes', [...searches(8, 990), ...writes(500), ...visitors(500), ...searches(8, 990)], {
      status: crowd,
    }),
    short: true,
  },
];
