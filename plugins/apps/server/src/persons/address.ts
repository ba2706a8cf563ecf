import { domainToUnicode } from 'node:url';
import type { Items, Json } from '../../../shared/json';
import { AppsError } from '../common/errors';
import { foldedAddress } from '../indexes';

/** Characters of an address, or of a user's name. */
const MAX_LENGTH = 320;

/** Whether a text names a person by an e-mail address. */
export const isAddress = (who: string): boolean => who.includes('@');

/** What was asked for, without white space at its ends. BadRequestError for what can be neither an address nor a user. */
export function readWho(given: string): string {
  const who = given.trim();
  const [local, domain] = [who.slice(0, who.lastIndexOf('@')), who.slice(who.lastIndexOf('@') + 1)];
  const isHalf = isAddress(who) && (local.trim() === '' || domain.trim() === '');
  if (who === '' || who.length > MAX_LENGTH || /\p{Cc}/u.test(who) || isHalf)
    throw new AppsError('BadRequestError', `Name an e-mail address or a user, with at most ${MAX_LENGTH} characters`);
  return who;
}

/** How an address is found in texts. */
export interface AddressSearch {
  /** As elements with `unique` compare it: without case and white space, the domain in ASCII. */
  folded: string;
  /** A pattern of SQL's `like` for texts in lower case that may have it: it finds all that do, and others. */
  pattern: string;
  isSame(value: Json): boolean;
  /** Whether a text has the address: plain, percent-encoded or in HTML, and not as a part of a longer one. */
  isIn(text: string): boolean;
  /** The same for the texts of a value, at any depth, and for names in it. */
  isInValue(value: Json): boolean;
}

/** Characters that make another address of one that follows or precedes them. */
const LONGER_BEFORE = /[\p{L}\p{N}._%+-]/u;
const LONGER_AFTER = /^(?:[\p{L}\p{N}_-]|\.[\p{L}\p{N}])/u;

/** Runs of ASCII letters and digits that all forms of an address have: neither wildcards nor what some texts encode. */
function runsOf(folded: string): string[] {
  const at = folded.lastIndexOf('@');
  // A domain beyond ASCII may stand in Unicode, or as `xn--…`.
  const labels = folded.slice(at + 1).split('.');
  const domain = labels.map((label) => (label.startsWith('xn--') ? '' : label)).join('.');
  return `${folded.slice(0, at)}@${domain}`.match(/[a-z0-9]+/g) ?? [];
}

/** Percent-encoding and references of HTML as the characters that they stand for, as far as they are ASCII. */
const decoded = (text: string): string =>
  text
    .replace(/%([0-7][0-9a-f])/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/&#(\d{1,3});/g, (_, code: string) => String.fromCharCode(Number(code)))
    .replaceAll('&amp;', '&');

export function searchOf(address: string): AddressSearch {
  const folded = foldedAddress(address);
  const at = folded.lastIndexOf('@');
  const forms = [...new Set([folded, folded.slice(0, at + 1) + domainToUnicode(folded.slice(at + 1))])];
  const isPart = (text: string, form: string): boolean => {
    for (let start = text.indexOf(form); start >= 0; start = text.indexOf(form, start + 1)) {
      const end = start + form.length;
      if (!LONGER_BEFORE.test(text.charAt(start - 1)) && !LONGER_AFTER.test(text.slice(end, end + 3))) return true;
    }
    return false;
  };
  const isIn = (text: string): boolean => {
    const lower = text.toLowerCase();
    const texts = /[%&]/.test(lower) ? [lower, decoded(lower)] : [lower];
    return texts.some((one) => forms.some((form) => isPart(one, form)));
  };
  const isSame = (value: Json): boolean => typeof value === 'string' && foldedAddress(value) === folded;
  const isInValue = (value: Json): boolean => {
    if (typeof value === 'string') return isSame(value) || isIn(value);
    if (value === null || typeof value !== 'object') return false;
    if (Array.isArray(value)) return value.some(isInValue);
    return Object.entries(value as Items).some(([name, one]) => isIn(name) || isInValue(one));
  };
  return { folded, pattern: `%${runsOf(folded).join('%')}%`, isSame, isIn, isInValue };
}
