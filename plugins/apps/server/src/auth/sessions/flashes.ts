import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Keyring } from '../credentials/keyring';
import { setCookie } from './cookies';

/** A message for a visitor, which the next page shows once. */
export interface FlashMessage {
  text: string;
  /** The address of a link after the message, for those who go on. */
  to?: string;
  /** The text of that link; by default that one goes on. */
  label?: string;
}

/** Name of the cookie that carries messages across a redirect. */
const FLASH_COOKIE = 'apps_flash';

/** Seconds for which a browser keeps it. */
const MAX_AGE = 60;

/** Characters of the packed messages: a cookie holds about 4 kB in all. */
export const MAX_PACKED = 2_800;

/** Bytes of the messages before they are packed. */
const MAX_BYTES = 32_000;

/** `<messages>.<end, base 36>.<mac>` */
const VALUE = /^([\w-]{1,2800})\.([0-9a-z]{1,11})\.([\w-]{43})$/;

/**
 * Signed messages in a cookie of the visitor (docs/decisions/flash-messages.md): no process stores them, and neither a link
 * nor a page of another site can put words into a page.
 */
export interface Flashes {
  readonly cookie: string;
  /** The messages in the value of a site's cookie; none of a forged one, of another site's, and of one that is too old. */
  read(site: string, value: string | undefined): FlashMessage[];
  /** The `Set-Cookie` header; it deletes the cookie where there are no messages. The oldest of too many are left out. */
  header(site: { id: string; path: string }, messages: readonly FlashMessage[], secure: boolean): string;
}

export function createFlashes({ keyring, now }: { keyring: Keyring; now: () => number }): Flashes {
  const signed = (site: string, packed: string): string => {
    const end = (now() + MAX_AGE * 1000).toString(36);
    return `${packed}.${end}.${keyring.sign(['flash', site, packed, end])}`;
  };
  return {
    cookie: FLASH_COOKIE,
    read(site, value) {
      const [, packed = '', end = '', mac = ''] = VALUE.exec(value ?? '') ?? [];
      if (packed === '' || !keyring.verify(['flash', site, packed, end], mac)) return [];
      return Number.parseInt(end, 36) < now() ? [] : unpack(packed);
    },
    header({ id, path }, messages, secure) {
      const value = messages.length === 0 ? '' : signed(id, pack(messages));
      return setCookie(FLASH_COOKIE, value, { path, maxAge: messages.length === 0 ? 0 : MAX_AGE, secure });
    },
  };
}

function pack(messages: readonly FlashMessage[]): string {
  const packed = deflateRawSync(JSON.stringify(messages)).toString('base64url');
  return packed.length <= MAX_PACKED || messages.length === 1 ? packed : pack(messages.slice(1));
}

/** The value was signed here, so that it is what `pack` has made. */
const unpack = (packed: string): FlashMessage[] =>
  JSON.parse(inflateRawSync(Buffer.from(packed, 'base64url'), { maxOutputLength: MAX_BYTES }).toString());
