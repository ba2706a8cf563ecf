import { type Attack, type AttackArena, healthyPage } from './attack';

const list = <T>(length: number, make: (at: number) => T): T[] => Array.from({ length }, (_, at) => make(at));
const contains = (at: number) => ({ title: { $contains: `x${at}` } });
const related = (at: number) => ({ related: { title: { $contains: `x${at}` } } });

/** A hundred articles, each with twenty related ones and ten tiles; made once for a host. */
async function articles({ host }: Pick<AttackArena, 'host'>): Promise<void> {
  await host.run(async (strapi) => {
    const documents = strapi.documents('api::article.article');
    if ((await documents.count({})) >= 100) return;
    const ids: string[] = [];
    for (let at = 0; at < 100; at += 1) {
      const tiles = Array.from({ length: 10 }, () => ({ __component: 'tiles.block', block: 'healthy/blocks/block' }));
      const data = { title: `Article ${at}`, slug: `a${at}`, body: 'b'.repeat(1000), tiles, related: ids.slice(-20) };
      ids.push((await documents.create({ data, status: 'published' } as never)).documentId);
    }
  });
}

/** Logic that makes one call, or makes it until a limit ends it, in requests of several clients at once. */
function query(name: string, params: object, { clients = 1, once = false } = {}): Attack {
  const call = `context.api.documents('api::article.article').findMany(${JSON.stringify(params)}).length`;
  const js = once ? `return ${call};` : `for (;;) try { ${call}; } catch {}`;
  return {
    name: `content-${name}`,
    prepare: articles,
    block: { js: `export function f(context) { ${js} }\n` },
    healthy: [healthyPage],
    requests: list(clients, () => ({ path: '/site/@@apps/attack/blocks/{id}/f' })),
    // One of many may be refused because the sandbox is busy.
    status: once ? [200, 503, 504] : [500, 503, 504],
    within: 3_000 + 500 * clients,
  };
}

const conditions = { filters: { $or: list(49, contains) } };

/** Queries of Strapi's content that are as large as they may be, or larger. */
export const content: readonly Attack[] = [
  query('conditions', conditions),
  { ...query('conditions-of-six', conditions, { clients: 6 }), short: true },
  query('conditions-once', conditions, { clients: 30, once: true }),
  query('values-of-six', { filters: { title: { $in: list(250, (at) => `x${at}`) } } }, { clients: 6 }),
  query('entries-of-six', { limit: 100, populate: '*' }, { clients: 6 }),
  query('relations-of-six', { filters: { $or: list(2, related) } }, { clients: 6 }),
  query('populate-of-six', { limit: 5, populate: { related: { populate: '*' } } }, { clients: 6 }),
  {
    ...query('every-combination', { filters: { $or: list(5, related) } }, { once: true }),
    status: 500,
    has: /lists of relations or components 5 times/,
    within: 500,
  },
  {
    ...query('levels', { populate: 'related.related.related.related.related' }, { once: true }),
    status: 500,
    has: /more than 4 levels/,
    within: 500,
  },
];
