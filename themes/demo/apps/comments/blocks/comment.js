/** @import { ComputedElement, Element, OnDelete, OnDisplay, OnSave } from 'strapi-plugin-apps/context' */
import { mayChange, mayComment } from '../lib/rights';

/**
 * Runs before the block is shown and before a comment is saved: who may not comment is sent to the login.
 * @type {OnDisplay}
 */
export function on_display(context) {
  const { app, record, request, parent_request, portal } = context;
  const { path } = parent_request ?? request;
  const login_url = `${portal.url}/@@login?next=${encodeURIComponent(path)}`;
  context.login_url = login_url;
  context.may_comment = mayComment(app);
  if (request.has('_save') && !context.may_comment) return login_url;
  context.may_change = record !== null && mayChange(app, record);
  // The form stands beside the thanks: its next answer is at the same address.
  context.is_sent = request.method === 'GET' && request.has('sent');
}

/** Comments that are shown at once: the latest ones, in the order in which they were written. */
const SIZE = 100;

/**
 * The approved comments on this page, and the visitor's own that still wait; older ones by `?page=2`.
 * @type {Element}
 */
export function comments({ app, content, request }) {
  const query = "page == path and ('approved' in state or author == me)";
  const names = { path: content.path, me: app.acl.current_user() ?? '' };
  const total = app.count(query, { names });
  const wanted = Math.trunc(Number(request.get('page', 1))) || 1;
  const page = Math.min(Math.max(1, wanted), Math.max(1, Math.ceil(total / SIZE)));
  const order = { sort_index: 'created_at', reverse: true, limit: SIZE, offset: (page - 1) * SIZE };
  const found = app.search(query, { names, ...order });
  const list = found.map((comment) => ({ ...comment.items(), url: comment.url, may_change: mayChange(app, comment) }));
  return { list: list.reverse(), total, size: SIZE, page };
}

/** @type {ComputedElement} */
export function page({ content }) {
  return content.path;
}

/** @type {ComputedElement} */
export function author({ app }) {
  return app.acl.current_user();
}

export function revision() {
  return crypto.randomUUID();
}

export function created_at() {
  return new Date().toISOString();
}

/**
 * A changed comment is read again before everybody sees it, unless a moderator has changed it: then it needs no other one. Back to
 * the page's comments: not everybody who may write may read the record.
 * @type {OnSave}
 */
export function on_save(context) {
  const { app, block, record } = context;
  record.state = app.acl.has_role('moderator') ? 'approved' : 'waiting';
  if (record.state === 'waiting') tellModerators(context);
  return record.state === 'waiting' ? `${block.url}?sent=yes` : block.url;
}

/**
 * What the screen in the staff room gets of a new comment (`webhooks` in settings.yaml).
 * @param {{ params: { data: { items: Record<string, string> } } }} context
 */
export function message({ params }) {
  const { author = '', page = '', text = '' } = params.data.items;
  return { author, page, text: text.slice(0, 200) };
}

/** @type {OnDelete} */
export function on_delete({ block }) {
  return block.url;
}

/**
 * A comment is saved even if no mail can be sent.
 * @param {import('strapi-plugin-apps/context').RecordContext} context
 */
function tellModerators({ app, mail, record }) {
  const text = `${record.author} writes on ${record.page}:\n\n${record.text}\n\n${app.get_block('moderate')?.url}`;
  try {
    mail.send({ to: String(app.options.moderators ?? ''), subject: 'A comment waits for you', text });
  } catch (error) {
    console.warn(error);
  }
}
