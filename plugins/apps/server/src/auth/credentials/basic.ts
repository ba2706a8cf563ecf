/** One way to read Basic credentials. */
export interface Split {
  /** Username or e-mail. */
  identifier: string;
  password: string;
}

/** Characters of credentials; longer ones are invalid. */
const MAX_LENGTH = 1024;

/**
 * The decoded credentials of `Authorization: Basic <encoded>`; null if they are not Base64 of UTF-8 text of a sensible
 * length.
 */
export function decodeBasic(encoded: string): string | null {
  if (encoded.length > MAX_LENGTH * 4 || !/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) return null;
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(encoded, 'base64'));
    return text.length > MAX_LENGTH || text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}

/**
 * Every way to split credentials at a dot (docs/reference/rights.md#basic-credentials) or a colon (RFC 7617) into two
 * parts that are not empty, the longest name first: so names that begin like another user's cannot use up that user's
 * password checks.
 */
export function splits(credentials: string): Split[] {
  const found: Split[] = [];
  for (let at = credentials.length - 2; at > 0; at -= 1) {
    const separator = credentials[at];
    if (separator !== '.' && separator !== ':') continue;
    found.push({ identifier: credentials.slice(0, at), password: credentials.slice(at + 1) });
  }
  return found;
}
