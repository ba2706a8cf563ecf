import { mostLiked } from '../lib/top';

export function top(context) {
  return mostLiked(context);
}
