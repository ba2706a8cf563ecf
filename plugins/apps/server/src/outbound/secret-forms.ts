/** How a host may write a secret that it was sent, when it repeats it: those forms are hidden. */

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

const escaped = (text: string, apostrophe: string) =>
  text.replace(/[&<>"']/g, (character) => (character === "'" ? apostrophe : (escapes[character] as string)));

const percent = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

const lowerPercent = (text: string) => text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());

/**
 * The characters of a base64 text that stand for the value alone, wherever it begins in what was encoded: with `before` bytes
 * in front of it, as a name and a colon are in front of a password.
 */
function base64Core(value: string, before: number): string {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(value)]);
  return bytes.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6));
}

const urlSafe = (base64: string) => base64.replaceAll('+', '-').replaceAll('/', '_');

/** The forms of a value, each once: as it is, as JSON, in addresses and forms, as HTML, hexadecimal, and base64. */
export function formsOf(value: string): string[] {
  const json = JSON.stringify(value).slice(1, -1);
  const addresses = [encodeURIComponent(value), percent(value)];
  const hex = Buffer.from(value).toString('hex');
  const base64 = [0, 1, 2].map((before) => base64Core(value, before));
  const all = [
    value,
    json,
    json.replaceAll('/', '\\/'),
    ...[...addresses, ...addresses.map((text) => text.replaceAll('%20', '+'))].flatMap((text) => [
      text,
      lowerPercent(text),
    ]),
    escaped(value, '&#39;'),
    escaped(value, '&#x27;'),
    escaped(value, '&apos;'),
    hex,
    hex.toUpperCase(),
    ...base64,
    ...base64.map(urlSafe),
  ];
  return [...new Set(all)];
}
