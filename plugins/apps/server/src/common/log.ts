import type { Json } from '../../../shared/json';

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

/** Stands for an e-mail address: an address itself, so that a run with it can run again, of a domain that never exists (RFC 2606). */
export const MASK = 'hidden@person.invalid';

/**
 * E-mail addresses in a text, also percent-encoded ones and those of domains beyond ASCII. The scopes of packages (`/@strapi/`) and
 * versions (`vue@3.2.1`) are none.
 */
const ADDRESS =
  /[\w.!#$%'*+^`{|}~\p{L}-]{1,64}(?:@|%40|&#64;)(?![\d.]+(?![\p{L}\p{N}-]))[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}.-]{0,251}[\p{L}\p{N}])?/giu;

const mayHaveAddress = (text: string): boolean => /@|%40|&#64;/.test(text);

/** The text with a mask in place of each e-mail address. */
export const withoutAddresses = (text: string): string => (mayHaveAddress(text) ? text.replace(ADDRESS, MASK) : text);

/** The last part of a field's name: of an entry of a repeated group, `<group>:<number>:<field>`. */
const fieldOf = (name: string): string => name.slice(name.lastIndexOf(':') + 1);

/** A value with masks in place of all e-mail addresses, and of what stands under these names. */
export function withoutPersons(value: Json, names: ReadonlySet<string>): Json {
  if (typeof value === 'string') return withoutAddresses(value);
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((one) => withoutPersons(one, names));
  const entries = Object.entries(value).map(([name, one]): [string, Json] => [
    withoutAddresses(name),
    names.has(fieldOf(name)) && one !== null && one !== '' ? masked(one) : withoutPersons(one, names),
  ]);
  return Object.fromEntries(entries);
}

/** The same number of values: a form sends each field as one or several texts. */
const masked = (value: Json): Json => (Array.isArray(value) ? value.map(() => MASK) : MASK);

/**
 * Whether e-mail addresses are masked in the log and in runs: where an app of the host has an element with `person`, and while it is not
 * known whether one has, unless `runs.persons` says otherwise (docs/operate/privacy.md#in-runs-and-the-log).
 */
export interface Masks {
  /** Notes that an app with such elements was loaded. */
  begin(): void;
  /** Notes that apps that may have such elements are loaded from now on, and that all of them were. */
  startLook(): void;
  endLook(): void;
  isOn(): boolean;
  text(text: string): string;
}

/** @param shows `runs.persons` of the configuration */
export function createMasks(shows: boolean): Masks {
  let [isLooking, hasPersons] = [false, false];
  const isOn = () => !shows && (isLooking || hasPersons);
  return {
    begin() {
      hasPersons = true;
    },
    startLook() {
      isLooking = true;
    },
    endLook() {
      isLooking = false;
    },
    isOn,
    text: (text) => (isOn() ? withoutAddresses(text) : text),
  };
}

/** A log whose lines have no e-mail addresses while they are masked. */
export function maskedLog(log: Logger, { text }: Pick<Masks, 'text'>): Logger {
  return {
    info: (message) => log.info(text(message)),
    warn: (message) => log.warn(text(message)),
    error: (message) => log.error(text(message)),
    debug: (message) => (log.debug ? log.debug(text(message)) : log.info(text(message))),
  };
}
