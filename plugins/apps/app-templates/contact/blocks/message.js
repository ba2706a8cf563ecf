/** @param {import('strapi-plugin-apps/context').Context} context */
export function on_delete({ app }) {
  return `${app.url}/blocks/inbox`;
}
