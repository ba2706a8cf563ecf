/** @typedef {import('strapi-plugin-apps/context').App} App */

/** Whether the visitor may add a term. @param {App} app */
export function mayAdd({ acl }) {
  return acl.has_access_right('author') || acl.has_access_right('editor');
}

/**
 * Whether the visitor may change a term. The server checks it once more.
 * @param {App} app
 * @param {import('strapi-plugin-apps/context').AppRecord} record
 */
export function mayChange({ acl }, record) {
  if (acl.has_access_right('editor')) return true;
  return acl.has_access_right('author') && record.get('added_by') === acl.current_user();
}
