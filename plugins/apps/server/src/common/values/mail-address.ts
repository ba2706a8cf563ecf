import { domainToASCII } from 'node:url';

/**
 * A domain of letters, marks and digits whose labels begin and end with none of `-`; the dots of East Asian keyboards count. Node.js
 * reads the host of a web address, and would leave out what follows a slash.
 */
const DOMAIN = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}]|[-.。．｡](?=[\p{L}\p{N}-]))*$/u;

/** A label that ends or begins with `-`. */
const LOOSE_HYPHEN = /[.。．｡]-|-[.。．｡]/;

/**
 * An address with its domain as the name system has it, `xn--…` for letters beyond ASCII (RFC 5891): mail servers need not
 * know others. Unchanged where there is no such domain. `*@<domain>` is read too.
 */
export function asciiAddress(address: string): string {
  const at = address.lastIndexOf('@') + 1;
  const domain = address.slice(at);
  if (!/[^\0-\x7f]/.test(domain) || !DOMAIN.test(domain) || LOOSE_HYPHEN.test(domain)) return address;
  const wanted = domainToASCII(domain);
  return wanted === '' ? address : address.slice(0, at) + wanted;
}
