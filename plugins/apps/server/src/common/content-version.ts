import { createHash } from 'node:crypto';

/** A text that differs when the content does: an address with it may be cached for ever (docs/decisions/asset-addresses.md). */
export const contentVersion = (content: Buffer | string): string =>
  createHash('sha256').update(content).digest('base64url').slice(0, 22);
