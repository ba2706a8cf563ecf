import { z } from 'zod';
import { didYouMean } from '../../common/text';
import { roleOf } from '../elements';
import type { ElementDefinition, Privacy, TimeSpan } from '../types';
import { type Check, check, shownAs } from '../yaml/check';
import { boundedList, describe } from '../yaml/schema';
import type { YamlNode } from '../yaml/yaml';
import { timeSpan } from './time-span';

/** The longest time for which records are kept, in years. */
const MAX_YEARS = 100;

const keep: Check<TimeSpan> = timeSpan({
  units: ['day', 'week', 'month', 'year'],
  example: '"180 days" or "2 years"',
  most: MAX_YEARS,
});

/** As many as a block has elements. */
const MAX_NAMES = 500;

const notNames = {
  error: ({ input }: { input?: unknown }) =>
    `This must be a list of names of elements, such as [email, name], not ${describe(input)}`,
};

const anonymize = check<string[]>(
  boundedList(
    MAX_NAMES,
    `There are at most ${MAX_NAMES} names`,
    shownAs(z.array(z.string(notNames), notNames).min(1, 'This list is empty'), () => z.array(z.string()).min(1)),
    (one) => typeof one === 'string',
  ),
);

/** Keys of a definition that say how long its records are kept, and what goes then (docs/reference/definitions.md#privacy). */
export const privacyKeys = { keep, anonymize };

type Given = { [K in keyof typeof privacyKeys]?: ReturnType<(typeof privacyKeys)[K]> };

/** Whether the values of an element are items of the block's records. */
const isStored = (element: ElementDefinition): boolean => roleOf(element) === 'input' || element.mode !== undefined;

/** What the keys say together with the block's elements. DefinitionError for a name that is no element whose value is stored. */
export function privacyOf(given: Given, elements: ReadonlyMap<string, ElementDefinition>, root: YamlNode): Privacy {
  const stored = [...elements.values()].filter(isStored);
  const persons = stored.filter(({ person }) => person).map(({ name }) => name);
  for (const [index, name] of (given.anonymize ?? []).entries()) {
    if (stored.some((element) => element.name === name)) continue;
    const at = root.child('anonymize').child(index);
    const known = stored.map((element) => element.name);
    at.fail(
      elements.has(name)
        ? `The value of "${name}" is not stored`
        : `There is no element "${name}"${didYouMean(name, known)}`,
    );
  }
  const names = given.anonymize ? [...new Set([...given.anonymize, ...persons])] : null;
  return { keep: given.keep ?? null, anonymize: names };
}
