import { createHmac, timingSafeEqual } from 'node:crypto';

/** Seconds by which the time of a signed request may differ from the server's (Standard Webhooks: five minutes). */
export const TOLERANCE = 300;

/** Begins the secrets of Standard Webhooks; what follows is base64. */
const PREFIX = 'whsec_';

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

/** The id of a message: visible characters without a full stop, which separates it from the time in what is signed. */
const ID = /^[\x21-\x2d\x2f-\x7e]{1,255}$/;

/** Seconds since the epoch. */
const SECONDS = /^\d{1,12}$/;

const HEX_DIGEST = /^[0-9a-f]{64}$/i;

/** The headers of a signed message. */
export interface SignedHeaders {
  'webhook-id': string;
  'webhook-timestamp': string;
  'webhook-signature': string;
}

/** Why a signature is refused; the sender may see it. */
export interface Refused {
  refused: string;
}

/** A message whose signature is right. `id`: null where the scheme has none. */
export interface Verified {
  id: string | null;
}

/**
 * The key of a secret as Standard Webhooks writes it, `whsec_` and base64; the prefix may be missing.
 * @returns null where that is empty or no base64
 */
export function standardKey(secret: string): Buffer | null {
  const encoded = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
  const key = BASE64.test(encoded) ? Buffer.from(encoded, 'base64') : null;
  return key && key.length > 0 ? key : null;
}

const digest = (key: Buffer, id: string, timestamp: string, body: Buffer): Buffer =>
  createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();

/**
 * The headers of a message as https://www.standardwebhooks.com says.
 * @param id names the message; the same for each try to deliver it
 * @param now milliseconds since the epoch
 */
export function signed(key: Buffer, id: string, body: Buffer, now: number): SignedHeaders {
  const timestamp = String(Math.floor(now / 1000));
  const signature = digest(key, id, timestamp, body).toString('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}

/** The value of a header that a request has; null where it has none, or several. */
export type HeaderOf = (name: string) => string | null;

/**
 * Checks a message that was signed as https://www.standardwebhooks.com says. One of several signatures must be right: a
 * sender that changes its secret signs with both.
 * @param now milliseconds since the epoch
 */
export function verifyStandard(key: Buffer, header: HeaderOf, body: Buffer, now: number): Verified | Refused {
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(header);
  if (id == null || timestamp == null || signatures == null)
    return { refused: 'A webhook needs each of the headers webhook-id, webhook-timestamp and webhook-signature once' };
  if (!ID.test(id)) return { refused: 'The header webhook-id must have 1 to 255 visible characters, and no "."' };
  if (!SECONDS.test(timestamp)) return { refused: 'The header webhook-timestamp must be seconds since 1970' };
  if (Math.abs(Math.floor(now / 1000) - Number(timestamp)) > TOLERANCE)
    return { refused: 'The time of this webhook is too old, or too far in the future' };
  const wanted = digest(key, id, timestamp, body);
  const isRight = signatures.split(' ').some((one) => isDigest(wanted, one.startsWith('v1,') ? one.slice(3) : ''));
  return isRight ? { id } : { refused: 'The signature of this webhook is wrong' };
}

/** Compares in constant time. */
function isDigest(wanted: Buffer, base64: string): boolean {
  const given = BASE64.test(base64) ? Buffer.from(base64, 'base64') : Buffer.alloc(0);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/**
 * Checks a message whose header has the HMAC-SHA256 of its body in hexadecimal digits, as GitHub and others sign. Nothing of
 * it says when it was sent.
 * @param prefix what stands before the digits
 */
export function verifyHex(
  secret: string,
  { header, prefix }: { header: string; prefix: string },
  headerOf: HeaderOf,
  body: Buffer,
): Verified | Refused {
  const given = headerOf(header);
  if (given === null) return { refused: `A webhook needs the header ${header} once` };
  const digits = given.startsWith(prefix) ? given.slice(prefix.length) : '';
  const wanted = createHmac('sha256', secret).update(body).digest();
  const isRight = HEX_DIGEST.test(digits) && timingSafeEqual(Buffer.from(digits, 'hex'), wanted);
  return isRight ? { id: null } : { refused: 'The signature of this webhook is wrong' };
}
