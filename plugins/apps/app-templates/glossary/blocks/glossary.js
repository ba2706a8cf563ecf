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

/** The terms that match, best match first; all of them in alphabetical order without a search. @param {Context} context */
export function terms(context) {
  const words = q(context);
  const found = words
    ? context.app.search('q in words', { sort_index: 'words', names: { q: words }, limit: 200 })
    : context.app.search('', { sort_index: 'sort_key', limit: 200 });
  return found.map((record) => ({ ...record.items(), url: record.url }));
}
