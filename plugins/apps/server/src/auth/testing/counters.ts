import type { Core } from '@strapi/strapi';
import type { Knex } from 'knex';
import { type Count, type Counters, createCounters } from '../credentials/rate-limit';

/** Counts in memory, for tests of what counts. */
export function countersInMemory(now: () => number): Counters {
  const counts = new Map<string, Count>();
  const current = (id: string) => {
    const found = counts.get(id);
    return found && found.endsAt > now() ? found : undefined;
  };
  return {
    async add(id, endsAt, limit = Number.POSITIVE_INFINITY) {
      const found = current(id);
      if (found && found.count >= limit) return 'full';
      counts.set(id, found ? { ...found, count: found.count + 1 } : { count: 1, endsAt });
      return found ? 'added' : 'begun';
    },
    async takeBack(ids) {
      for (const id of ids) {
        const found = counts.get(id);
        if (found) found.count -= 1;
      }
    },
    read: async (ids) => new Map(ids.flatMap((id) => (current(id) ? [[id, current(id) as Count]] : []))),
  };
}

/** Counts in a new table of a database. */
export async function countersIn(knex: Knex, now: () => number): Promise<Counters> {
  await knex.schema.createTable('apps_form_posts', (table) => {
    table.increments('id');
    table.string('count_id').unique();
    table.integer('posts');
    table.bigInteger('ends_at');
  });
  return createCounters({ db: { connection: (table: string) => knex(table) } } as unknown as Core.Strapi, now);
}
