import { itemOf, type Json } from '../../../../shared/json';
import { asciiAddress } from '../../common/values/mail-address';
import type { Settings } from '../types';

/** Characters of an address, and of the part before its `@` (RFC 5321). */
const MAX_ADDRESS = 254;
const MAX_LOCAL = 64;

/** What no bare address has: white space, control characters, and what would make it a name, a list or a comment. */
const ADDRESS = /^[^\s\p{Cc}\p{Zl}\p{Zp}@"(),:;<>[\\\]]+@[^\s\p{Cc}\p{Zl}\p{Zp}@"(),:;<>[\\\]*]+$/u;

/** The name of an option in place of an address: `{recipient}`. */
const OPTION = /^\{([\w-]+)\}$/;

/** Whether a text is one bare address, without a name: it cannot end its header's line, nor name a second recipient. */
export function isAddress(text: string): boolean {
  return text.length <= MAX_ADDRESS && text.indexOf('@') <= MAX_LOCAL && ADDRESS.test(text);
}

/** Whether a text may stand in `mail.to`: an address, `*@<domain>`, or the name of an option in braces. */
export function isRecipientEntry(text: string): boolean {
  return isAddress(text) || OPTION.test(text);
}

/** Addresses and `*@<domain>` to which an app may send; options are looked up, and ignored where they are neither. */
export function recipientEntries({ mail, options }: Settings): string[] {
  return (mail?.to ?? []).flatMap((entry) => {
    const [, option] = OPTION.exec(entry) ?? [];
    return option === undefined ? [entry] : textsOf(itemOf(options, option)).filter(isAddress);
  });
}

const textsOf = (value: Json): string[] => [value].flat().filter((one): one is string => typeof one === 'string');

/** Whether `address` is one of the entries, or in the domain of one. Letter case and the spelling of a domain do not count. */
export function isAllowed(address: string, entries: readonly string[]): boolean {
  const given = asciiAddress(address).toLowerCase();
  const domain = given.slice(given.lastIndexOf('@'));
  return entries.some((entry) => {
    const wanted = asciiAddress(entry).toLowerCase();
    return wanted === given || wanted === `*${domain}`;
  });
}
