import { z } from 'zod';
import { errorText } from '../common/errors';
import { didYouMean } from '../common/text';
import { keysOf, type ValidationProblem, validate, type Wrong } from '../common/validation';
import { idPattern } from '../sites';
import { shorten, type YamlNode } from './yaml';

/**
 * Checks one value of a YAML file and returns it typed; throws a DefinitionError. `schema` describes the shape of the value,
 * for the check and for editors; `read` checks and converts a value of that shape further.
 */
export type Check<T, Work extends unknown[] = []> = ((at: YamlNode, ...work: Work) => T) & {
  readonly schema: z.ZodType;
  // biome-ignore lint/suspicious/noExplicitAny: only the schema's own `read` knows the type of its output
  readonly read: (value: any, at: YamlNode, ...work: Work) => T;
};

/** A check of the values that `schema` describes. */
export function check<T>(schema: z.ZodType<T>): Check<T> & { readonly schema: z.ZodType<T> };
export function check<In, T, Work extends unknown[] = []>(
  schema: z.ZodType<In>,
  read: (value: In, at: YamlNode, ...work: Work) => T,
): Check<T, Work>;
export function check(schema: z.ZodType, read: Check<unknown>['read'] = (value) => value): Check<unknown> {
  return Object.assign((at: YamlNode, ...work: []) => read(shaped(at, schema), at, ...work), { schema, read });
}

const shapes = new WeakMap<z.core.$ZodType, () => z.ZodType>();

/** Returns `schema` and sets the shape that editors see instead, where `read` does a part of the check. */
export function shownAs<T extends z.ZodType>(schema: T, shape: () => z.ZodType): T {
  shapes.set(schema, shape);
  return schema;
}

/** The shape that `shownAs` has set for a schema. */
export const shownShape = (schema: z.core.$ZodType): z.ZodType | undefined => shapes.get(schema)?.();

/** The output of the schema. DefinitionError at the first problem in the file. */
function shaped<T>(at: YamlNode, schema: z.ZodType<T>, given: unknown = at.value): T {
  const { value, problems } = validate(schema, given);
  if (!problems) return value;
  const unknown = problems.filter(({ wrong }) => wrong === 'unknown key');
  if (at.tolerance && unknown.length > 0) {
    for (const problem of unknown) tolerate(nodeAt(at, problem), messageOf(problem));
    const pruned = unknown.reduce(
      (rest, { path, message }) => onlyKnown(rest, path.slice(0, -1), keysIn(message)),
      given,
    );
    return shaped(at, schema, pruned);
  }
  const found = problems.map((problem) => ({ ...problem, node: nodeAt(at, problem) }));
  const [first] = found.length === 1 ? found : found.sort((a, b) => comparePositions(a.node, b.node));
  throw first?.node.error(messageOf(first));
}

function messageOf({ path, wrong, message }: ValidationProblem): string {
  return wrong === 'unknown key' ? unknownKeyMessage(String(path.at(-1)), keysIn(message)) : message;
}

function comparePositions({ position: a }: YamlNode, { position: b }: YamlNode): number {
  return (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);
}

/** The key or value with the problem; for a missing value, its mapping. */
function nodeAt(at: YamlNode, { path, wrong }: ValidationProblem): YamlNode {
  let node = at;
  for (const [depth, step] of path.entries()) {
    if (!Object.hasOwn(Object(node.value), step)) break;
    node = wrong !== 'value' && depth === path.length - 1 ? node.key(String(step)) : node.child(step);
  }
  return node;
}

/** The known keys in a message of `keysOf`. */
const keysIn = (message: string) => message.split(', ');

/** A copy of a value in which the mapping at a path has its known keys only. */
function onlyKnown(value: unknown, [step, ...rest]: ValidationProblem['path'], known: readonly string[]): unknown {
  if (Array.isArray(value)) return value.with(Number(step), onlyKnown(value[Number(step)], rest, known));
  const entries = Object.entries(value as object);
  if (step === undefined) return Object.fromEntries(entries.filter(([key]) => known.includes(key)));
  return Object.fromEntries(entries.map(([key, inner]) => [key, key === step ? onlyKnown(inner, rest, known) : inner]));
}

/** Throws for an unknown key, or warns where the file has a tolerance; the message has the allowed keys and a suggestion. */
export function unknownKey(at: YamlNode, key: string, allowed: readonly string[], where = ''): void {
  if (at.tolerance?.left === 0) return;
  const message = unknownKeyMessage(key, allowed, where);
  if (!at.tolerance) at.key(key).fail(message);
  tolerate(at.key(key), message);
}

function unknownKeyMessage(key: string, allowed: readonly string[], where = ''): string {
  const list = allowed.length > 0 ? ` Allowed: ${[...allowed].sort().join(', ')}.` : '';
  return `The key "${key}" is not known${where}${didYouMean(key, allowed) || '.'}${list}`;
}

/** Warns of a problem that does not break the file. */
function tolerate(at: YamlNode, message: string): void {
  const { tolerance } = at;
  if (!tolerance || tolerance.left === 0) return;
  tolerance.left -= 1;
  tolerance.warn(errorText(at.error(message)));
}

const notMapping = {
  error: ({ input }: Wrong) => `This must be a mapping of keys to values, not ${describe(input)}${spaced(input)}`,
};

/** The checked values of a mapping's known keys; absent and null ones are undefined. */
type Checked<S extends Record<string, Check<unknown>>> = { [K in keyof S]?: ReturnType<S[K]> };

/** A mapping of the known keys in `checks` only. */
export function mapping<S extends Record<string, Check<unknown>>>(checks: S): Check<Checked<S>> {
  const shape = Object.fromEntries(Object.entries(checks).map(([key, { schema }]) => [key, schema.nullish()]));
  return check(keysOf(shape, notMapping.error), (value: Record<string, unknown>, at) => {
    const given = Object.keys(at.value as object).filter((key) => Object.hasOwn(value, key) && value[key] != null);
    const checked = given.map((key) => [key, checks[key]?.read(value[key], at.child(key))]);
    return Object.fromEntries(checked) as Checked<S>;
  });
}

/** A mapping of free names, each an id, to values of one kind. */
export function named<T, Work extends unknown[] = []>(
  what: string,
  inner: Check<T, [name: string, ...Work]> | Check<T>,
): Check<Map<string, T>, Work> {
  const name = z.string().regex(idPattern, {
    error: ({ input }) => `"${input}" cannot be the name of ${what}: use letters, digits, "_", "-" and "."`,
  });
  const read = inner.read as Check<T, [name: string, ...Work]>['read'];
  const isWrong = ([key, value]: [string, unknown]) => !idPattern.test(key) || !inner.schema.safeParse(value).success;
  const schema = z.preprocess(
    (value) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
      // The first wrong entry is the problem: an issue for each one would take its time.
      const entries = Object.entries(value);
      const wrong = entries.findIndex(isWrong);
      return wrong < 0 ? value : Object.fromEntries(entries.slice(0, wrong + 1));
    },
    z.record(name, inner.schema, notMapping),
  );
  return check(schema, (value: Record<string, unknown>, at, ...work: Work) => {
    const entries = Object.keys(at.value as object).map((key) => [key, value[key]] as const);
    return new Map(entries.map(([key, entry]) => [key, read(entry, at.child(key), key, ...work)]));
  });
}

/**
 * Validates a list only if it is not too long, and up to its first wrong entry: aliases may repeat a long list a hundred
 * times.
 */
export const boundedList = <T extends z.ZodType>(
  maxEntries: number,
  message: string,
  schema: T,
  isEntry = (_: unknown) => true,
) =>
  z.preprocess((value, context) => {
    if (!Array.isArray(value)) return value;
    if (value.length > maxEntries) {
      context.addIssue(message);
      return z.NEVER;
    }
    const wrong = value.findIndex((one) => !isEntry(one));
    return wrong < 0 ? value : value.slice(0, wrong + 1);
  }, schema);

/** Maximum characters of a text: a page may show the texts of one file many times, also through aliases. */
const MAX_TEXT = 10_000;

export const text = check(
  z
    .string({
      error: ({ input }) =>
        `This must be text, not ${describe(input)}${typeof input === 'object' ? '' : `; put it in quotes: "${input}"`}`,
    })
    .max(MAX_TEXT, `This text has more than ${MAX_TEXT} characters`),
);

/** Text shown to people; a number or truth value becomes its text. */
export const caption = check(z.union([text.schema, z.number(), z.boolean()]).transform(String));

export const flag = check(z.boolean({ error: ({ input }) => `This must be true or false, not ${describe(input)}` }));

const numberSchema = z.number({ error: ({ input }) => `This must be a number, not ${describe(input)}` });

export const number = check<number>(numberSchema);

const WHOLE = 'This must be a whole number, 0 or more';

/** A whole number, zero or more. */
export const size = check<number>(numberSchema.int(WHOLE).min(0, WHOLE));

/** Maximum of a limit of places. */
const MAX_PLACES = 1_000_000;

const notPlaces = {
  error: ({ input }: Wrong) => `This must be a whole number from 1 to ${MAX_PLACES}, not ${describe(input)}`,
};

/** A number of places. */
export const placesNumber = check<number>(z.int(notPlaces).min(1, notPlaces).max(MAX_PLACES, notPlaces));

/** One of the given words. */
export function oneOf<T extends string>(...words: T[]): Check<T> {
  return check(
    z.enum(words, {
      error: ({ input }) => {
        const meant = didYouMean(typeof input === 'string' ? input : null, words);
        return `This must be ${choices(words)}, not ${describe(input)}${meant}`;
      },
    }) as unknown as z.ZodType<T>,
  );
}

/** Maximum users and groups in one list: every request compares the requester with each. */
const MAX_NAMES = 1_000;

const namesSchema = boundedList(
  MAX_NAMES,
  `There are at most ${MAX_NAMES} names in a list`,
  shownAs(
    z.array(text.schema, {
      error: ({ input }) =>
        typeof input === 'string'
          ? `This must be a list of users and groups, such as ["${shorten(input)}"], not ${describe(input)}`
          : `This must be a list, not ${describe(input)}`,
    }),
    () => z.array(text.schema).max(MAX_NAMES),
  ),
  (one) => typeof one === 'string',
);

/** Names of users and groups: a list. */
export const names = check<string[]>(namesSchema);

/** Names of users and groups: a list, or one text with white space between them. */
export const namesOrText = check<string[]>(
  z.union([namesSchema, text.schema.transform((given) => given.split(/\s+/).filter(Boolean))]),
);

export { isItems as isMapping } from '../../../shared/json';

function choices(words: readonly string[]): string {
  return words.map((word) => `"${word}"`).join(' or ');
}

/** What to write instead of a key and a value without a space between them, which YAML reads as a text; else ''. */
function spaced(value: unknown): string {
  const [, key, text] = (typeof value === 'string' && /^([\w.-]{1,50}):(\S.{0,50})$/.exec(value)) || [];
  return key === undefined ? '' : `; write a space after the colon: "${key}: ${text}"`;
}

/** A value in words, for messages; long texts are cut. */
export function describe(value: unknown): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  if (typeof value === 'string') return `the text "${value.length > 40 ? `${value.slice(0, 40)}…` : value}"`;
  return `the ${typeof value === 'number' ? 'number' : 'value'} ${value}`;
}
