import { isId } from '../../sites';

/** A reference to a block that a page embeds. */
export interface BlockReference {
  app: string;
  block: string;
  /** Query string of the included request, without `?`. */
  query: string;
}

const REFERENCE = /^(?:\/?@@apps\/)?([^/?#]+)\/blocks\/([^/?#]+)(?:\?([^#]{0,2000}))?$/;

/**
 * Parses `<app_id>/blocks/<block_id>`, the form of tiles and the tag `block`, or
 * `/@@apps/<app_id>/blocks/<block_id>`, the form of rules (docs/reference/embedding.md#tags-and-tiles); a query string may
 * follow. Null for anything else.
 */
export function blockReference(text: string): BlockReference | null {
  const [, app = '', block = '', query = ''] = REFERENCE.exec(text.trim()) ?? [];
  return isId(app) && isId(block) ? { app, block, query } : null;
}
