import type { AppKey } from '../records/types';
import type { LinkPurpose } from './types';

/** `<id of 16 bytes><signature of 32 bytes>`, base64url. */
const TOKEN = /^([\w-]{22})([\w-]{43})$/;

/** Keyed hashes under Strapi's keys (auth/credentials/keyring.ts). */
export interface Signer {
  sign(parts: readonly string[]): string;
  /** In constant time. */
  verify(parts: readonly string[], mac: string): boolean;
}

/** What a token is made of: the random id of a row, and what the row is for. */
interface Signed {
  purpose: LinkPurpose;
  key: AppKey;
  id: string;
}

/** Tokens of signed links (docs/decisions/signed-links.md): none is stored. */
export interface Tokens {
  make(signed: Signed): string;
  /** The id in a token, and whether its signature is right; '' for a text that is no token. */
  read(purpose: LinkPurpose, key: AppKey, token: string): { id: string; isSigned: boolean };
}

/** Whether a text is the one base64url encoding of its bytes: the last character has bits that no byte needs. */
const isExact = (text: string): boolean => Buffer.from(text, 'base64url').toString('base64url') === text;

const parts = (purpose: LinkPurpose, { site, app }: AppKey, id: string) => ['link', purpose, site, app, id];

export function createTokens(keyring: Signer): Tokens {
  return {
    make: ({ purpose, key, id }) => id + keyring.sign(parts(purpose, key, id)),
    read(purpose, key, token) {
      const [, id = '', mac = ''] = TOKEN.exec(token) ?? [];
      return { id, isSigned: keyring.verify(parts(purpose, key, id), mac) && isExact(mac) };
    },
  };
}
