import type { Json } from '../../../shared/json';
import type { Logger } from './log';

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
 * Whether e-mail addresses are masked in the log and in runs: where an app of the host has an element with `person`, unless
 * `runs.persons` says otherwise (docs/operate/privacy.md#in-runs-and-the-log).
 */
export interface Masks {
  /** Notes that an app with such elements was loaded. */
  begin(): void;
  isOn(): boolean;
  text(text: string): string;
}

/** @param shows `runs.persons` of the configuration */
export function createMasks(shows: boolean): Masks {
  let isOn = false;
  return {
    begin() {
      isOn = !shows;
    },
    isOn: () => isOn,
    text: (text) => (isOn ? withoutAddresses(text) : text),
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
