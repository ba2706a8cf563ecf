const standIns: Record<string, string> = { '␣': ' ', '⏎': '\n', '⇥': '\t' };

/** The tokens of a text, between which are two spaces or a line end. `␣`, `⏎` and `⇥` are a space, a line end and a tab. */
export function tokens(text: string): string[] {
  const parts = text.trim().split(/ {2,}|\n\s*/);
  return parts.map((part) => part.replace(/[␣⏎⇥]/g, (sign) => standIns[sign] as string));
}

/** Pairs of an opening and an ending, between which is `…`. */
export function around(text: string): [string, string][] {
  return tokens(text).map((pair) => pair.split('…') as [string, string]);
}
