import { z } from 'zod';
import type { Json } from '../../../../../shared/json';
import { memoized } from '../../../common/collections';
import type { Condition, ElementDefinition } from '../../types';
import { check } from '../../yaml/check';
import { describe, isMapping } from '../../yaml/schema';
import type { YamlNode } from '../../yaml/yaml';
import type { SharedSettings } from './settings';

type Scalar = string | number | boolean | null;

/** Maximum elements that one condition names, and values for each. */
const MAX = { elements: 20, values: 100 };

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const shape = z.record(
  z.string(),
  z.union([scalar, scalar.array(), z.strictObject({ not: z.union([scalar, scalar.array()]) })]),
);

const showIf = check(z.unknown(), (_value, at): Readonly<Record<string, Condition>> => {
  const { value } = at;
  if (!isMapping(value)) return at.fail(`This must be a mapping of elements to values, not ${describe(value)}`);
  const names = Object.keys(value);
  if (names.length === 0 || names.length > MAX.elements) return at.fail(`This names 1 to ${MAX.elements} elements`);
  return Object.fromEntries(names.map((name) => [name, conditionOf(at.child(name))]));
});

function conditionOf(at: YamlNode): Condition {
  const isNegated = isMapping(at.value) && Object.keys(at.value).join() === 'not';
  const inner = isNegated ? at.child('not') : at;
  const values = Array.isArray(inner.value) ? inner.value : [inner.value];
  if (values.length > MAX.values || !values.every((one) => scalar.safeParse(one).success))
    return at.fail(`This must be a value, a list of at most ${MAX.values} values, or a mapping with "not"`);
  return { values: values as Scalar[], not: isNegated, isNumber: false };
}

/** On which values of other elements an element is shown (docs/reference/definitions.md#show_if). */
export const showIfSetting: SharedSettings = {
  show_if: { shared: 'showIf', check: Object.assign(showIf, { schema: shape.meta({ minProperties: 1 }) }) },
};

/** Whether an element is shown. @param valueFor the values of the elements that its condition names */
export function isShown({ showIf }: Pick<ElementDefinition, 'showIf'>, valueFor: (name: string) => Json): boolean {
  return Object.entries(showIf ?? {}).every(([name, condition]) => isMet(condition, valueFor(name)));
}

function isMet(condition: Condition, given: Json): boolean {
  const entries = Array.isArray(given) && given.length > 0 ? given : [Array.isArray(given) ? null : given];
  const { texts } = written(condition);
  const textFor = textsOf(condition);
  return (
    entries.some((entry) => texts.has(textFor(entry))) !== condition.not &&
    (!condition.also || isMet(condition.also, given))
  );
}

/** Texts and JSON of a condition, made once: a form may have a thousand of them, each with many values, and is read and shown often. */
const written = memoized((condition: Condition): { texts: ReadonlySet<string>; json: string } => {
  const { values, not, isNumber, also } = condition;
  const json = [
    `"not":${not}`,
    ...(isNumber ? ['"isNumber":true'] : []),
    `"values":${JSON.stringify(values.map(textOf))}`,
    ...(also ? [`"also":${written(also).json}`] : []),
  ];
  return { texts: new Set(values.map(textsOf(condition))), json: `{${json.join()}}` };
});

/** How a condition writes the values that it compares. */
const textsOf = ({ isNumber }: Condition) => (isNumber ? numberText : textOf);

/** A condition on an element that is a number, which is compared as one however it is written. */
export const comparedAsNumber = ({ also, ...condition }: Condition): Condition => ({
  ...condition,
  isNumber: true,
  ...(also && { also: comparedAsNumber(also) }),
});

/** An element with the condition of its group or page besides its own. */
export function withCondition(
  element: ElementDefinition,
  { showIf }: Pick<ElementDefinition, 'showIf'>,
): ElementDefinition {
  if (!showIf) return element;
  const all = new Map(Object.entries(element.showIf ?? {}));
  for (const [name, condition] of Object.entries(showIf)) {
    const own = all.get(name);
    all.set(name, own ? { ...condition, also: own } : condition);
  }
  return { ...element, showIf: Object.fromEntries(all) };
}

/** As a form sends a value: nothing and false are an empty text, true is 1. */
function textOf(value: unknown): string {
  if (value === null || value === undefined || value === false) return '';
  return value === true ? '1' : String(value);
}

/** As `textOf`, one text for all spellings of a number. */
function numberText(value: unknown): string {
  const text = textOf(value).trim();
  const number = Number(text);
  return text === '' || !Number.isFinite(number) ? text : String(number);
}

/** The condition for the browser script, as JSON. */
export function conditionJson({ showIf }: Pick<ElementDefinition, 'showIf'>): string | undefined {
  if (!showIf) return undefined;
  const conditions = Object.entries(showIf).map(([name, one]) => `${JSON.stringify(name)}:${written(one).json}`);
  return `{${conditions.join()}}`;
}
