const PLACES = 5;

/**
 * The most liked pages that this visitor may read: records outlive the pages that they are about.
 * @param {import('strapi-plugin-apps/context').Context} context
 */
export function mostLiked({ app, portal }) {
  const pages = [];
  for (const record of app.search('total > 0', { sort_index: 'total', reverse: true, limit: 4 * PLACES })) {
    const page = portal.get(record.id);
    if (page) pages.push({ title: page.title, url: page.url, total: record.total });
    if (pages.length === PLACES) break;
  }
  return pages;
}
