import type { Message } from '../../support/send';
import { type Attack, type AttackArena, healthyPage } from '../attacks/attack';
import { random } from '../fuzz/grow';
import { dimensions } from './dimensions';
import { type Dimension, emptyPlan, type Plan } from './plan';
import { ofManagers, requests } from './requests';

/** A product of bounds: what is large, which request, and how many of it at once. */
export interface Product {
  large: readonly string[];
  request: string;
  count: number;
}

/** Requests at once: one, as many as isolates, more than that. */
const counts = [1, 8, 24];

/** The product of a seed: two or three things at their limits, of which the number of requests is one. */
export function productOf(seed: number): Product {
  const next = random(seed);
  const pick = <T>(list: readonly T[]) => list[Math.floor(next() * list.length)] as T;
  const names = [...dimensions.keys()];
  const large = [...new Set(Array.from({ length: 1 + Math.floor(next() * 3) }, () => pick(names)))];
  return { large, request: pick(Object.keys(requests)), count: pick(counts) };
}

export const nameOf = ({ large, request, count }: Product): string => `${large.join(' × ')}: ${count} × ${request}`;

/** Any refusal is right that names its reason; what counts is when others are answered. */
const statuses = [200, 201, 303, 400, 404, 405, 406, 409, 413, 415, 422, 429, 500, 503, 504];

/** Characters of all records, and in all answers: listings of gigabytes are slow for their size, and not for a product of bounds. */
const MAX = { stored: 50_000_000, answered: 400_000_000 };

function bounded(plan: Plan, count: number): Plan {
  const size = JSON.stringify(plan.items).length;
  return { ...plan, records: Math.min(plan.records, Math.ceil(Math.min(MAX.stored, MAX.answered / count) / size)) };
}

/** Makes the app's records, unless they are there already. */
async function makeRecords({ host }: Pick<AttackArena, 'host'>, { items, records }: Plan, id: string): Promise<void> {
  await host.run(
    async (strapi, items: object, count: number, block: string) => {
      const store = strapi.plugin('apps').service('records').store();
      const key = { site: 'site', app: 'attack' };
      await store.clear(key);
      async function* read() {
        const record = (at: number) => ({ id: `r${at}`, creator: null, items: { ...items, block } });
        for (let at = 0; at < count; at += 500)
          yield Array.from({ length: Math.min(500, count - at) }, (_, index) => record(at + index));
      }
      await store.createMany(key, { read });
    },
    items,
    records,
    id,
  );
}

const settings = ({ settings }: Plan) =>
  JSON.stringify({ debug: true, acl: { rights: { editor: ['*'] } }, ...settings });

/** The elements of all dimensions are spread over the form's pages. */
function pagesOf({ elements, pages }: Plan): object {
  if (pages === 0) return {};
  const names = Object.keys(elements);
  const size = Math.ceil(names.length / pages);
  const count = Math.ceil(names.length / size);
  const of = (page: number) => ({ title: `P ${page}`, elements: names.slice(page * size, (page + 1) * size) });
  return { pages: Array.from({ length: count }, (_, page) => of(page)) };
}

/** Replaces the block's id where a body names it. */
const named = (id: string, message: Partial<Message>): Partial<Message> =>
  JSON.parse(JSON.stringify(message).replaceAll('{id}', id));

/** The attack of a product. @param id a block's id that no other attack on the host has */
export function attackOf(product: Product, id: string): Attack {
  const plan = emptyPlan();
  const chosen = product.large.map((name) => dimensions.get(name) as Dimension);
  const share = 1 / Math.max(1, chosen.filter(({ by }) => by === 'theme author').length);
  for (const { add } of chosen) add(plan, share);
  const message = named(id, requests[product.request]?.(plan) ?? {});
  const definition = JSON.stringify({
    ...plan.keys,
    ...pagesOf(plan),
    elements: { ...plan.elements, _save: 'ACTION' },
  });
  return {
    name: id,
    files: {
      'apps/attack/settings.yaml': settings(plan),
      ...plan.files,
      [`apps/attack/blocks/${id}.yaml`]: definition,
      [`apps/attack/blocks/${id}.html`]: `<div>${plan.layout.join('\n')}{_save}</div>`,
      [`apps/attack/blocks/${id}.js`]: `${plan.functions.join('\n')}\n`,
    },
    prepare: (arena) => makeRecords(arena, bounded(plan, product.count), id),
    requests: Array.from({ length: product.count }, () => message),
    byManager: ofManagers.has(product.request),
    healthy: [healthyPage],
    status: statuses,
    // The description names all errors.
    has: ofManagers.has(product.request) ? /^\{"openapi"/ : /^(?![\s\S]*InternalServerError)/,
    // A thousand records with twenty thousand options each take half a minute. What counts is how late others are answered.
    within: 120_000,
  };
}
