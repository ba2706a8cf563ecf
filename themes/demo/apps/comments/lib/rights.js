/**
 * Whether the visitor may write a comment.
 * @param {import('strapi-plugin-apps/context').App} app
 */
export function mayComment({ acl }) {
  const rights = /** @type {const} */ (['submitter', 'author', 'editor']);
  return rights.some((right) => acl.has_access_right(right));
}

/**
 * Whether the visitor may change a comment: editors all, authors their own. The server checks it once more.
 * @param {import('strapi-plugin-apps/context').App} app
 * @param {import('strapi-plugin-apps/context').AppRecord} comment
 */
export function mayChange({ acl }, comment) {
  const isOwn = acl.has_access_right('author') && comment.get('author') === acl.current_user();
  return isOwn || acl.has_access_right('editor');
}
