import { altOf, fileInput } from './inputs/file-input';
import { attributes } from './inputs/html';

/** Types that all browsers show. */
const types = ['image/jpeg', 'image/png', 'image/gif', 'image/webp', 'image/avif'];

/** An image in Strapi's media library (docs/reference/definitions.md#files), shown as such. */
export const image = fileInput(types, (file) => {
  const { url, width, height } = file;
  return `<img${attributes({ class: 'apps-image', src: url, alt: altOf(file), width, height, loading: 'lazy' })}>`;
});
