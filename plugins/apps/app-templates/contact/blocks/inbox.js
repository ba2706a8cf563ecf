/** @param {import('strapi-plugin-apps/context').Context} context */
export function messages({ app }) {
  const found = app.search('', { sort_index: 'sent_at', reverse: true, limit: 50 });
  return found.map((message) => ({ ...message.items(), url: message.url }));
}
