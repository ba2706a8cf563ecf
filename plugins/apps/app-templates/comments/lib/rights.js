/** @typedef {import('strapi-plugin-apps/context').App} App */

/** Whether the visitor may write a comment. @param {App} app */
export function mayComment({ acl }) {
  return acl.has_access_right('submitter') || acl.has_access_right('editor');
}

/** Whether the visitor may read comments that wait, and approve them. @param {App} app */
export function mayModerate({ acl }) {
  return acl.is_manager() || acl.has_access_right('editor');
}

/**
 * Whether the visitor may change a comment. The server checks it once more.
 * @param {App} app
 * @param {import('strapi-plugin-apps/context').AppRecord} comment
 */
export function mayChange(app, comment) {
  return mayModerate(app) || (mayComment(app) && comment.get('author') === app.acl.current_user());
}
