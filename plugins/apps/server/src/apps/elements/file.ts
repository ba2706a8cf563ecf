import { fileInput } from './inputs/file-input';
import { attributes, escapeHtml } from './inputs/html';

/** A file in Strapi's media library (docs/reference/definitions.md#files), shown as a link. */
export const file = fileInput([], ({ url, name, mime, size }, { locale }) => {
  const link = attributes({ class: 'apps-file', href: url, type: mime });
  return `<a${link}>${escapeHtml(name)}</a> <small>(${escapeHtml(locale.size(size))})</small>`;
});
