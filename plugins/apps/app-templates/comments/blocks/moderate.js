/** @typedef {import('strapi-plugin-apps/context').AppRecord} AppRecord */
/** @typedef {import('strapi-plugin-apps/context').Context} Context */

const WAITING = "state == 'waiting'";

/** @param {Context} context */
export function on_display(context) {
  context.waiting = context.app.count(WAITING);
  context.problem = '';
}

/** The oldest comments that wait, as boxes to check. @param {Context} context */
export function chosen_options({ app }) {
  const waiting = app.search(WAITING, { sort_index: 'written_at', limit: 50 });
  return waiting.map((comment) => ({
    value: readAs(comment),
    label: `${comment.author} on ${comment.page}: ${comment.text}`,
  }));
}

/** The text that a moderator has read: the comment, and which of its texts. @param {AppRecord} comment */
const readAs = ({ id, revision }) => `${id} ${revision}`;

/** Items that are set on a record are saved with the request. @param {Context} context */
export function approve(context) {
  return forChosen(context, (comment) => {
    comment.state = 'approved';
  });
}

/** @param {Context} context */
export function reject(context) {
  return forChosen(context, (comment) => context.app.delete_record(comment, { on_delete: false }));
}

/**
 * Does something to each chosen comment that still waits: another moderator may have been faster. One whose author has changed it
 * since it was shown is left, because nobody has read it.
 * @param {Context} context
 * @param {(comment: AppRecord) => void} change
 */
function forChosen(context, change) {
  const { app, block, request } = context;
  // One checked box is sent as a text, several as a list.
  const chosen = [request.get('chosen', [])].flat().map(String);
  if (chosen.length === 0) {
    context.problem = 'Please choose at least one comment.';
    request.response.status = 422;
    return;
  }
  let isUnread = false;
  for (const value of chosen) {
    const comment = app.get_record(value.slice(0, value.lastIndexOf(' ')));
    if (comment?.state !== 'waiting') continue;
    if (readAs(comment) === value) change(comment);
    else isUnread = true;
  }
  if (isUnread) context.flash('A comment was changed meanwhile. Please read it once more.');
  return block?.url;
}
