/** @import { Action, Context, OnDisplay, Options } from 'strapi-plugin-apps/context' */

const WAITING = "'waiting' in state";

/** @type {OnDisplay} */
export function on_display(context) {
  context.waiting = context.app.count(WAITING);
}

/**
 * The oldest comments that wait, as boxes to check.
 * @type {Options}
 */
export function chosen_options({ app, portal }) {
  const on = portal.locale === 'de' ? 'zu' : 'on';
  const waiting = app.search(WAITING, { sort_index: 'created_at', limit: 50 });
  return waiting.map(({ id, author, page, text }) => ({ value: id, label: `${author} ${on} ${page}: ${text}` }));
}

/**
 * Items that are set on a record are saved with the request.
 * @type {Action}
 */
export function approve(context) {
  for (const comment of chosenComments(context)) comment.state = 'approved';
  return context.block.url;
}

/** @type {Action} */
export function reject(context) {
  for (const comment of chosenComments(context)) context.app.delete_record(comment);
  return context.block.url;
}

/**
 * One checked box is sent as a text, several as a list. Another moderator may have been faster.
 * @param {Context} context
 */
function chosenComments({ app, request }) {
  const ids = [request.get('chosen', [])].flat();
  const comments = ids.map((id) => app.get_record(id)).filter((comment) => comment !== null);
  return comments.filter(({ state }) => state === 'waiting');
}
