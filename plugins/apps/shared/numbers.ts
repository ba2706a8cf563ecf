/**
 * Whether JavaScript has a whole number: exactly, or as the service writes it, so that what logic has read or computed can be sent
 * again.
 * @param digits with a sign or without
 */
export function isWholeNumber(digits: string): boolean {
  const value = Number(digits);
  return Number.isFinite(value) && (String(value) === digits || BigInt(digits) === BigInt(value));
}
