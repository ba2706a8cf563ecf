import { mayChange, mayComment } from '../lib/rights';

/** Runs before the block is shown and before a comment is saved: who may not comment is sent to the login. */
export function on_display(context) {
  const { app, record, request, parent_request, portal } = context;
  const { path } = parent_request ?? request;
  context.login_url = `${portal.url}/@@login?next=${encodeURIComponent(path)}`;
  context.may_comment = mayComment(app);
  if (request.has('_save') && !context.may_comment) return context.login_url;
  context.may_change = record !== null && mayChange(app, record);
  context.is_sent = request.has('sent');
}

/** The approved comments on this page, and the visitor's own that still wait. */
export function comments({ app, content }) {
  const found = app.search("block == 'comment' and page == path and (state == 'approved' or author == me)", {
    sort_index: 'created_at',
    names: { path: content.path, me: app.acl.current_user() ?? '' },
    limit: 200,
  });
  return found.map((comment) => ({ ...comment.items(), url: comment.url, may_change: mayChange(app, comment) }));
}

/** A changed comment is read again before everybody sees it, unless a moderator has changed it. */
export function state({ app }) {
  return app.acl.has_role('moderator') ? 'approved' : 'waiting';
}

export function page({ content }) {
  return content.path;
}

export function author({ app }) {
  return app.acl.current_user();
}

export function created_at() {
  return new Date().toISOString();
}

/** Back to the page's comments: not everybody who may write may read the record. */
export function on_save({ block, record }) {
  return record.state === 'waiting' ? `${block.url}?sent=yes` : block.url;
}

export function on_delete({ block }) {
  return block.url;
}
