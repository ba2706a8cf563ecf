/** @import { OnDelete, OnDisplay } from 'strapi-plugin-apps/context' */

/** @type {OnDisplay} */
export function on_display(context) {
  context.may_delete = context.app.acl.has_access_right('editor');
}

/** @type {OnDelete} */
export function on_delete({ app }) {
  return app.get_block('results')?.url;
}
