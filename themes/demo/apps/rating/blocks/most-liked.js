/** @import { Element } from 'strapi-plugin-apps/context' */
import { mostLiked } from '../lib/top';

/** @type {Element} */
export function top(context) {
  return mostLiked(context);
}
