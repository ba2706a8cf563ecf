/**
 * Whether the visitor may add a term. A manager has every right.
 * @param {Pick<import('strapi-plugin-apps/context').App, 'acl'>} app
 */
export function mayAdd({ acl }) {
  return acl.has_access_right('author') || acl.has_access_right('editor');
}

/**
 * Whether the visitor may change a term: editors may change all, authors their own. The server checks it once more.
 * @param {import('strapi-plugin-apps/context').App} app
 * @param {import('strapi-plugin-apps/context').AppRecord} record
 */
export function mayChange({ acl }, record) {
  return acl.has_access_right('editor') || (mayAdd({ acl }) && record.get('added_by') === acl.current_user());
}
