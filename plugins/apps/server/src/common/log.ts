/** A log: the server's, or one that writes to it. */
export interface Logger {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
  /** Absent in a log without this level. */
  debug?(message: string): void;
}

/** Characters of a message; longer ones are cut. */
const MAX_LENGTH = 20_000;

/** Control characters, line separators, and characters that change the direction of text. */
const controls = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** Escapes control characters and line breaks, so that no part of a text looks like another message. */
export function printable(text: string): string {
  const cut = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return cut.replaceAll('\n', '\\n').replace(controls, escaped);
}

/** Wraps a log so that each message is one printable line, also with text of visitors or themes. */
export function printableLog(log: Logger): Logger {
  return {
    info: (message) => log.info(printable(message)),
    warn: (message) => log.warn(printable(message)),
    error: (message) => log.error(printable(message)),
    debug: (message) => (log.debug ? log.debug(printable(message)) : log.info(printable(message))),
  };
}
