import type { Json } from '../../../shared/json';
import { didYouMean } from '../did-you-mean';
import { isId } from '../sites';
import type { YamlPlace } from './yaml';

/** Checks one value of a YAML file and gives it in its own type; a DefinitionError says what is allowed. */
export type Check<T> = (at: YamlPlace) => T;

/** What a mapping gives: its known keys, each checked; absent and null ones are undefined. */
export type Checked<S extends Record<string, Check<unknown>>> = { [K in keyof S]?: ReturnType<S[K]> };

/** A mapping of the known keys in `schema` only. */
export function mapping<S extends Record<string, Check<unknown>>>(schema: S): Check<Checked<S>> {
  return (at) => {
    const checked: Record<string, unknown> = {};
    for (const key of keysOf(at)) {
      const check = schema[key];
      if (!check || !Object.hasOwn(schema, key)) unknownKey(at, key, Object.keys(schema));
      else if (at.child(key).value !== null) checked[key] = check(at.child(key));
    }
    return checked as Checked<S>;
  };
}

/** A mapping of free names, each an id, to values of one kind. */
export function named<T>(what: string, check: (at: YamlPlace, name: string) => T): Check<Map<string, T>> {
  return (at) => {
    const checked = new Map<string, T>();
    for (const key of keysOf(at)) {
      if (!isId(key)) at.key(key).fail(`"${key}" cannot be the name of ${what}: use letters, digits, "_", "-" and "."`);
      checked.set(key, check(at.child(key), key));
    }
    return checked;
  };
}

function keysOf(at: YamlPlace): string[] {
  if (!isMapping(at.value)) return at.fail(`This must be a mapping of keys to values, not ${describe(at.value)}`);
  return Object.keys(at.value);
}

/** A list of values of one kind; null is the empty list. */
export function list<T>(check: Check<T>): Check<T[]> {
  return (at) => {
    if (!Array.isArray(at.value)) return at.fail(`This must be a list, not ${describe(at.value)}`);
    return at.value.map((_, index) => check(at.child(index)));
  };
}

/** Characters of a text, at most; those of one file may be written out many times on a page, by aliases too. */
const MAX_TEXT = 10_000;

export const text: Check<string> = (at) => {
  if (typeof at.value === 'string' && at.value.length <= MAX_TEXT) return at.value;
  if (typeof at.value === 'string') return at.fail(`This text has more than ${MAX_TEXT} characters`);
  const hint = typeof at.value === 'object' ? '' : `; put it in quotes: "${at.value}"`;
  return at.fail(`This must be text, not ${describe(at.value)}${hint}`);
};

/** Text shown to people: a number or truth value is taken as it is written. */
export const caption: Check<string> = (at) =>
  typeof at.value === 'string' || typeof at.value === 'object' ? text(at) : String(at.value);

export const flag: Check<boolean> = (at) =>
  typeof at.value === 'boolean' ? at.value : at.fail(`This must be true or false, not ${describe(at.value)}`);

export const number: Check<number> = (at) =>
  typeof at.value === 'number' ? at.value : at.fail(`This must be a number, not ${describe(at.value)}`);

/** A whole number, zero or more. */
export const size: Check<number> = (at) =>
  Number.isSafeInteger(number(at)) && (at.value as number) >= 0
    ? (at.value as number)
    : at.fail('This must be a whole number, 0 or more');

/** One of a few words. */
export function oneOf<T extends string>(...words: T[]): Check<T> {
  return (at) => {
    if ((words as unknown[]).includes(at.value)) return at.value as T;
    const given = typeof at.value === 'string' ? at.value : null;
    return at.fail(`This must be ${choices(words)}, not ${describe(at.value)}${didYouMean(given, words)}`);
  };
}

/** Users and groups in one list, at most: who is asking is compared with each, at every request. */
const MAX_NAMES = 1_000;

/** Names of users and groups: a list. */
export const names: Check<string[]> = (at) => {
  if (typeof at.value === 'string') {
    return at.fail(`This must be a list of users and groups, such as ["${at.value}"], not ${describe(at.value)}`);
  }
  if (Array.isArray(at.value) && at.value.length > MAX_NAMES) at.fail(`There are at most ${MAX_NAMES} names in a list`);
  return list(text)(at);
};

/** Names of users and groups: a list, or one text with white space between them. */
export const namesOrText: Check<string[]> = (at) =>
  typeof at.value === 'string' ? text(at).split(/\s+/).filter(Boolean) : names(at);

export function isMapping(value: Json): value is { [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Refuses a key, or lets it pass where the file's tolerance says so, naming the allowed ones and the one that was probably meant. */
export function unknownKey(at: YamlPlace, key: string, allowed: readonly string[], where = ''): void {
  const { tolerance } = at;
  if (tolerance?.left === 0) return;
  const list = allowed.length > 0 ? ` Allowed: ${[...allowed].sort().join(', ')}.` : '';
  const error = at.key(key).error(`The key "${key}" is not known${where}${didYouMean(key, allowed) || '.'}${list}`);
  if (!tolerance) throw error;
  tolerance.left -= 1;
  tolerance.tell(error.message);
}

function choices(words: readonly string[]): string {
  return words.map((word) => `"${word}"`).join(' or ');
}

/** A value in words, for messages; long texts are cut. */
export function describe(value: Json): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  if (typeof value === 'string') return `the text "${value.length > 40 ? `${value.slice(0, 40)}…` : value}"`;
  return `the ${typeof value === 'number' ? 'number' : 'value'} ${value}`;
}
