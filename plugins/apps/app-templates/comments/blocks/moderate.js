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
  return waiting.map(({ id, author, page, text }) => ({ value: id, label: `${author} on ${page}: ${text}` }));
}

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
 * Does something to each chosen comment that still waits: another moderator may have been faster.
 * @param {Context} context
 * @param {(comment: import('strapi-plugin-apps/context').AppRecord) => void} change
 */
function forChosen(context, change) {
  const { app, block, request } = context;
  // One checked box is sent as a text, several as a list.
  const ids = [request.get('chosen', [])].flat();
  if (ids.length === 0) {
    context.problem = 'Please choose at least one comment.';
    request.response.status = 422;
    return;
  }
  for (const id of ids) {
    const comment = app.get_record(id);
    if (comment?.state === 'waiting') change(comment);
  }
  return block?.url;
}
