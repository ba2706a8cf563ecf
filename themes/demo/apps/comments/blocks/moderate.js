/** @import { Action, AppRecord, Context, OnDisplay, Options } from 'strapi-plugin-apps/context' */

const WAITING = "'waiting' in state";

const changed = {
  de: 'Ein Kommentar wurde inzwischen geändert. Bitte lesen Sie ihn noch einmal.',
  en: 'A comment was changed meanwhile. Please read it once more.',
};

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
  return waiting.map((comment) => ({
    value: readAs(comment),
    label: `${comment.author} ${on} ${comment.page}: ${comment.text}`,
  }));
}

/**
 * The text that a moderator has read: the comment, and which of its texts.
 * @param {AppRecord} comment
 */
const readAs = ({ id, revision }) => `${id} ${revision}`;

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
 * One checked box is sent as a text, several as a list. Another moderator may have been faster. A comment that its author has changed
 * since it was shown is left, because nobody has read it.
 * @param {Context} context
 */
function chosenComments({ app, flash, portal, request }) {
  const chosen = [request.get('chosen', [])].flat().map(String);
  const read = new Set(chosen);
  const comments = chosen.map((value) => app.get_record(value.slice(0, value.lastIndexOf(' '))));
  const waiting = comments.filter((comment) => comment !== null).filter(({ state }) => state === 'waiting');
  const known = waiting.filter((comment) => read.has(readAs(comment)));
  if (known.length < waiting.length) flash(changed[portal.locale === 'de' ? 'de' : 'en']);
  return known;
}
