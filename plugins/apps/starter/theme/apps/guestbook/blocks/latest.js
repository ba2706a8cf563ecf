/** @param {import('strapi-plugin-apps/context').Context} context */
export function latest({ app }) {
  const records = app.search('', { sort_index: 'written_at', reverse: true, limit: 3 });
  return records.map((record) => record.items());
}
