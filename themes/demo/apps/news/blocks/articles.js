/** @import { Element } from 'strapi-plugin-apps/context' */

/**
 * The newest articles that this visitor may read; of the host's content, with the visitor's own rights.
 * @type {Element}
 */
export function articles({ api }) {
  try {
    return api.documents('api::article.article').findMany({
      fields: ['title', 'slug', 'summary'],
      sort: 'publishedAt:desc',
      limit: 6,
    });
  } catch (error) {
    return [];
  }
}
