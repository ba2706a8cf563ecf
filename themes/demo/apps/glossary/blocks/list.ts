import type { Context } from 'strapi-plugin-apps/context';
import { mayAdd } from '../lib/rights';
import { topicsIn } from '../lib/topics';

/** Terms that are shown at once. */
const LIMIT = 200;

/** What the visitor looks for: from the form, or from an address such as …/blocks/list?q=record. */
function wanted({ request }: Context): { q: string; topic: string } {
  return { q: String(request.get('q', '')).trim(), topic: String(request.get('topic', '')) };
}

export function on_display(context: Context): void {
  context.may_add = mayAdd(context.app);
}

export function q(context: Context): string {
  return wanted(context).q;
}

export function topic(context: Context): string {
  return wanted(context).topic;
}

export function topic_options({ portal }: Context) {
  return topicsIn(portal.locale);
}

/** The button sends the form, and the list reads it: there is nothing else to do. */
export function find(): void {}

/** The terms that match, best match first; all of them in alphabetical order without a search. */
export function entries(context: Context) {
  const names = wanted(context);
  const conditions = [names.q && 'q in words', names.topic && 'topic in topics'].filter(Boolean);
  const sort_index = names.q ? 'words' : 'sort_key';
  const found = context.app.search(conditions.join(' and '), { sort_index, names, limit: LIMIT });
  return found.map((record) => ({ ...record.items(), url: record.url }));
}
