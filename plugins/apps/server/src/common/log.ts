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

const escaped = (text: string): string =>
  text.replace(controls, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Escapes control characters and line breaks, so that no part of a text looks like another message. */
export function printable(text: string): string {
  const cut = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
  return escaped(cut.replaceAll('\n', '\\n'));
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

/** Where winston keeps the text of a line. */
const MESSAGE = Symbol.for('message');

/** A line of winston's before it has its form. */
interface Line {
  level: string;
  message: unknown;
  stack?: unknown;
  [MESSAGE]?: string;
}

/** The part of Strapi's logger, which is winston's, that is used here. */
export interface FormattedLogger {
  format?: { transform(line: Line): Line };
}

const textOf = (message: unknown): string => {
  if (typeof message === 'string') return message;
  if (message instanceof Error) return message.stack ?? message.message;
  try {
    return JSON.stringify(message) ?? String(message);
  } catch {
    return String(message);
  }
};

/**
 * Gives every line of a logger the form of a JSON object (docs/operate/monitoring.md#log): `time`, `level`, `message`, and what
 * is known of the request in which it is written.
 * @param requestFields undefined outside of requests
 */
export function logAsJson(logger: FormattedLogger, requestFields: () => Record<string, string> | undefined): void {
  logger.format = {
    transform(line) {
      const { level, message, stack } = line;
      const said = typeof stack === 'string' ? stack : textOf(message);
      const object = { time: new Date().toISOString(), level, message: said, ...requestFields() };
      // JSON leaves some of them as they are, such as those of eight bits and those that change the direction of text.
      line[MESSAGE] = escaped(JSON.stringify(object));
      return line;
    },
  };
}
