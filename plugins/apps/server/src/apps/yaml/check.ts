import type { z } from 'zod';
import { errorText } from '../../common/errors';
import { didYouMean } from '../../common/text';
import { type Problem, validate } from '../../common/validation';
import type { YamlNode } from './yaml';

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

function messageOf({ path, wrong, message }: Problem): string {
  return wrong === 'unknown key' ? unknownKeyMessage(String(path.at(-1)), keysIn(message)) : message;
}

function comparePositions({ position: a }: YamlNode, { position: b }: YamlNode): number {
  return (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);
}

/** The key or value with the problem; for a missing value, its mapping. */
function nodeAt(at: YamlNode, { path, wrong }: Problem): YamlNode {
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
function onlyKnown(value: unknown, [step, ...rest]: Problem['path'], known: readonly string[]): unknown {
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
