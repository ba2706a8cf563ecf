/** @import { Action, Context, Element, OnDisplay } from 'strapi-plugin-apps/context' */

const evenings = ['tuesday', 'wednesday', 'friday'];

/**
 * The id of this visitor's vote; null for a client without the cookie, who cannot vote.
 * @param {Context} context
 */
const idOf = ({ visitor }) => (visitor?.id ? `vote-${visitor.id}` : null);

/** @type {OnDisplay} */
export function on_display(context) {
  const id = idOf(context);
  context.has_voted = id !== null && context.app.get_record(id) !== null;
}

/**
 * Stores one vote a visitor: two at the same time are one record.
 * @type {Action}
 */
export function vote(context) {
  const { app, request } = context;
  const id = idOf(context);
  if (id !== null && !app.get_record(id)) app.create_record(id).evening = request.get('evening');
  return context.block.url;
}

/**
 * The votes for each evening, counted by the index.
 * @type {Element}
 */
export function result({ app }) {
  return evenings.map((key) => ({ key, votes: app.count('evening == key', { names: { key } }) }));
}
