import { isId } from '../sites';

/** A block that is put into a page. */
export interface BlockReference {
  app: string;
  block: string;
  /** Query string of the included request, without `?`. */
  query: string;
}

const REFERENCE = /^(?:\/?@@apps\/)?([^/?#]+)\/blocks\/([^/?#]+)(?:\?([^#]{0,2000}))?$/;

/**
 * Reads `<app_id>/blocks/<block_id>`, as tiles and the tag `block` name a block, or `/@@apps/<app_id>/blocks/<block_id>`,
 * as rules do (contract, section 11); a query string may follow. Null for anything else.
 */
export function blockReference(text: string): BlockReference | null {
  const [, app = '', block = '', query = ''] = REFERENCE.exec(text.trim()) ?? [];
  return isId(app) && isId(block) ? { app, block, query } : null;
}
