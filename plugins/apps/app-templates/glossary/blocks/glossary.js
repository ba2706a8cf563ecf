import { mayAdd } from '../lib/rights';

/** @typedef {import('strapi-plugin-apps/context').Context} Context */

/** @param {Context} context */
export function on_display(context) {
  context.may_add = mayAdd(context.app);
}

/** The field keeps what the visitor looks for; an address such as …/blocks/glossary?q=cache works too. @param {Context} context */
export function q({ request }) {
  return String(request.get('q', '')).trim();
}

/** The button sends the form, and the list reads it: there is nothing else to do. */
export function find() {}

/** Terms that are shown at once. */
const SIZE = 100;

/** The terms that match, best match first; all of them in alphabetical order without a search. @param {Context} context */
export function terms(context) {
  const { app, block, request } = context;
  const names = { q: q(context) };
  const query = names.q ? 'q in words' : '';
  const total = app.count(query, { names });
  const pages = Math.max(1, Math.ceil(total / SIZE));
  const page = Math.min(Math.max(1, Math.trunc(Number(request.get('page', 1))) || 1), pages);
  const sort_index = names.q ? 'words' : 'sort_key';
  const found = app.search(query, { sort_index, names, limit: SIZE, offset: (page - 1) * SIZE });
  /** @param {number} at */
  const address = (at) =>
    at >= 1 && at <= pages ? `${block?.url}?q=${encodeURIComponent(names.q)}&page=${at}` : null;
  const list = found.map((record) => ({ ...record.items(), url: record.url }));
  return { list, total, page, pages, previous: address(page - 1), next: address(page + 1) };
}
