import { mayChange, mayComment, mayModerate } from '../lib/rights';

/** @typedef {import('strapi-plugin-apps/context').Context} Context */

/** Runs before the block is shown and before a comment is saved: the login, for those who may not. @param {Context} context */
export function on_display(context) {
  const { app, parent_request, portal, record, request } = context;
  const { path } = parent_request ?? request;
  context.login_url = `${portal.url}/@@login?next=${encodeURIComponent(path)}`;
  context.may_comment = mayComment(app);
  context.may_change = record !== null && mayChange(app, record);
  // The form stands beside the thanks: its next answer is at the same address.
  context.is_sent = request.method === 'GET' && request.has('sent');
  if (request.has('_save') && !context.may_comment) return context.login_url;
}

/** Comments that are shown at once: the latest ones, in the order in which they were written. */
const SIZE = 100;

/** The approved comments on this page, and the visitor's own that still wait; older ones by `?page=2`. @param {Context} context */
export function comments({ app, content, request }) {
  const query = "page == path and (state == 'approved' or author == me)";
  const names = { path: content.path, me: app.acl.current_user() ?? '' };
  const total = app.count(query, { names });
  const wanted = Math.trunc(Number(request.get('page', 1))) || 1;
  const page = Math.min(Math.max(1, wanted), Math.max(1, Math.ceil(total / SIZE)));
  const order = { sort_index: 'written_at', reverse: true, limit: SIZE, offset: (page - 1) * SIZE };
  const found = app.search(query, { names, ...order });
  const list = found.map((comment) => ({ ...comment.items(), url: comment.url, may_change: mayChange(app, comment) }));
  return { list: list.reverse(), total, size: SIZE, page };
}

/** A changed comment waits again, unless a moderator has changed it. @param {Context} context */
export function state({ app }) {
  return mayModerate(app) ? 'approved' : 'waiting';
}

export function revision() {
  return crypto.randomUUID();
}

/** @param {Context} context */
export function page({ content }) {
  return content.path;
}

/** @param {Context} context */
export function author({ app }) {
  return app.acl.current_user();
}

export function written_at() {
  return new Date().toISOString();
}

/** Back to the page's comments. @param {Context} context */
export function on_save({ block, record }) {
  return record?.state === 'waiting' ? `${block?.url}?sent=yes` : block?.url;
}

/** @param {Context} context */
export function on_delete({ block }) {
  return block?.url;
}
