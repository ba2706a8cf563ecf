/** A log: the server's, or one that writes to it. */
export interface Logger {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

/** Characters of a message, at most; what is longer is cut. */
const MAX_LENGTH = 20_000;

/** Characters that a terminal obeys, that end a line, or that change the direction of what follows. */
const obeyed = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** Text as one line without anything that a terminal obeys, so that nothing in it looks like another message. */
export function printable(text: string): string {
  const cut = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
  const written = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return cut.replaceAll('\n', '\\n').replace(obeyed, written);
}

/** The same log, in which each message is one printable line, whatever visitors or themes have put into it. */
export function printableLog(log: Logger): Logger {
  return {
    info: (message) => log.info(printable(message)),
    warn: (message) => log.warn(printable(message)),
    error: (message) => log.error(printable(message)),
  };
}
