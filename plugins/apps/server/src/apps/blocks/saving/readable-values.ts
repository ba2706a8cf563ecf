import type { Items, Json } from '../../../../../shared/json';
import type { Region } from '../../../common/time/moments';
import { fieldsOf, listedOptions, readableValue } from '../../elements';
import { shown } from '../../mail';
import type { ElementDefinition } from '../../types';
import { isMapping } from '../../yaml-schema';

/** What the words for yes and no are in the language of the mail. */
type Say = (message: 'yes' | 'no') => string;

/**
 * The fields of a form with their values, one on each line; below a repeated group a line for each entry.
 * @param region the language of the mail's dates and numbers; without it they are as they are stored
 */
export function mailLines(
  elements: ReadonlyMap<string, ElementDefinition>,
  items: Items,
  say: Say,
  region?: Region,
): string[] {
  const filled = [...elements.values()].filter(
    ({ name, kind }) => kind.role !== 'action' && Object.hasOwn(items, name),
  );
  return filled.flatMap((element) => {
    const { name, label = name } = element;
    const entry = fieldsOf(element);
    const value = items[name];
    if (!entry || !Array.isArray(value)) return `${label}: ${textOf(element, value, say, region)}`;
    const entries = value.map((one) => (isMapping(one) ? mailLines(entry, one, say, region).join(', ') : shown(one)));
    return [`${label}:`, ...entries.map((text, index) => `  ${index + 1}. ${text}`)];
  });
}

/** A value in one line, as people read it; of a repeated group its entries, one after the other. */
export function readableLine(
  element: ElementDefinition,
  value: Json,
  locale: Region & { say: Say },
  options = listedOptions(element),
): string {
  const entry = fieldsOf(element);
  if (!entry || !Array.isArray(value)) return value === null ? '' : textOf(element, value, locale.say, locale, options);
  return value
    .map((one) => (isMapping(one) ? mailLines(entry, one, locale.say, locale).join(', ') : shown(one)))
    .join('; ');
}

/** A value as its form shows it: options by their labels, files by their names, dates and numbers in the language of the mail. */
function textOf(
  element: ElementDefinition,
  value: Json | undefined,
  say: Say,
  region: Region | undefined,
  options = listedOptions(element),
): string {
  if (Array.isArray(value)) return value.map((one) => textOf(element, one, say, region, options)).join(', ');
  const word = value === undefined ? undefined : element.kind.word?.(value);
  if (word) return say(word);
  if (value !== undefined && isMapping(value) && typeof value.documentId === 'string') return shown(value.name);
  const label = options?.find((option) => option.value === value)?.label;
  return label ?? shown(region && value !== undefined ? readableValue(element, value, region) : value);
}
