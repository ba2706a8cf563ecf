import type { Context } from 'strapi-plugin-apps/context';
import { mayAdd } from '../lib/rights';
import { topicsIn } from '../lib/topics';

/** Terms that are shown at once. */
const SIZE = 100;

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
  const { app, block, request } = context;
  const names = wanted(context);
  const conditions = [names.q && 'q in words', names.topic && 'topic in topics'].filter(Boolean);
  const query = conditions.join(' and ');
  const total = app.count(query, { names });
  const pages = Math.max(1, Math.ceil(total / SIZE));
  const page = Math.min(Math.max(1, Math.trunc(Number(request.get('page', 1))) || 1), pages);
  const sort_index = names.q ? 'words' : 'sort_key';
  const found = app.search(query, { sort_index, names, limit: SIZE, offset: (page - 1) * SIZE });
  const address = (at: number) =>
    at >= 1 && at <= pages ? `${block?.url}?${new URLSearchParams({ ...names, page: String(at) })}` : null;
  const list = found.map((record) => ({ ...record.items(), url: record.url }));
  return { list, total, page, pages, previous: address(page - 1), next: address(page + 1) };
}
