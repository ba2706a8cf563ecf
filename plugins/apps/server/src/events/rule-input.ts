import { type RuleInput, ruleEvents } from '../../../shared/admin-api';
import type { Items, Json } from '../../../shared/json';
import { AppsError } from '../errors';
import { isId } from '../sites';

/** Characters of a rule's name, and of each other text: what the database keeps of a string. */
const MAX_LENGTH = 255;

const isText = (value: Json | undefined): value is string =>
  typeof value === 'string' && value.trim() !== '' && value.length <= MAX_LENGTH;

/** What each key must be. */
const keys: Record<keyof RuleInput, { must: string; test(value: Json | undefined): boolean }> = {
  name: { must: `a text of 1 to ${MAX_LENGTH} characters`, test: isText },
  enabled: { must: 'true or false', test: (value) => typeof value === 'boolean' },
  event: { must: `one of ${ruleEvents.join(', ')}`, test: (value) => ruleEvents.some((event) => event === value) },
  contentType: { must: 'the uid of a content type', test: isText },
  app: { must: 'the id of an app', test: (value) => isText(value) && isId(value) },
  block: { must: 'the id of a block', test: (value) => isText(value) && isId(value) },
  function: { must: 'the name of a function', test: (value) => isText(value) && /^[A-Za-z_$][\w$]*$/.test(value) },
};

/** The rule that the items are. BadRequestError that names the key for an unknown, missing or wrong one. */
export function readRule(items: Items): RuleInput {
  for (const key of Object.keys(items)) {
    if (!Object.hasOwn(keys, key))
      throw wrongKey(key, `Unknown key "${key}"; known are ${Object.keys(keys).join(', ')}`);
  }
  for (const [key, { must, test }] of Object.entries(keys)) {
    if (!test(items[key])) throw wrongKey(key, `"${key}" must be ${must}`);
  }
  const rule = items as unknown as RuleInput;
  return { ...rule, name: rule.name.trim() };
}

/** The BadRequestError for one key; `details.key` names it for the panel's form. */
export function wrongKey(key: string, message: string): AppsError {
  return new AppsError('BadRequestError', message, { details: { key } });
}
