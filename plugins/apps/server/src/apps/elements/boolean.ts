import type { Json } from '../../../../shared/json';
import { message } from '../locales';
import { attributes, controlId, escapeHtml, field, isDemanded, plainText, stateOf } from './inputs/html';
import { inputSettings } from './inputs/settings';
import { lastEntry } from './inputs/text-input';
import type { ElementType, ElementView } from './types';

const NO = new Set(['', '0', 'false', 'off', 'no']);
const YES = new Set(['1', 'true', 'on', 'yes']);

/** The text that a box sends for a stored value: what was imported may be `TRUE`, `1` or `yes`. */
const sentFor = (value: Json): '' | '1' => (YES.has(wordOf(plainText(value))) ? '1' : '');

/** A stored value for reading. */
function readableBoolean({ value, locale }: ElementView): string {
  const word = wordOf(plainText(value));
  if (word === '') return '';
  return YES.has(word) || NO.has(word) ? locale.say(YES.has(word) ? 'yes' : 'no') : escapeHtml(plainText(value));
}

const wordOf = (text: string): string => text.trim().toLowerCase();

/** A checkbox. A browser sends nothing for an unchecked one, so that an absent field is false. */
export const boolean: ElementType = {
  role: 'input',
  cell: 'boolean',
  settings: inputSettings,
  schema: () => ({ type: 'boolean' }),
  // A form sends any text for a checked box; of JSON only the usual words for yes and no are taken.
  sent(value) {
    const word = value === null || value === false ? '' : typeof value === 'object' ? '?' : wordOf(String(value));
    return NO.has(word) ? [] : YES.has(word) ? ['1'] : message('true_false');
  },
  word: (value) => (typeof value !== 'boolean' ? undefined : value ? 'yes' : 'no'),
  shows: (value) => [sentFor(value)],
  compares: (submitted) => [NO.has(wordOf(lastEntry(submitted))) ? '' : '1'],
  read(submitted, { required }) {
    const value = !NO.has(wordOf(lastEntry(submitted)));
    return required && !value ? { error: message('check') } : { value };
  },
  show(view) {
    if (view.mode === 'text') return readableBoolean(view);
    const { name } = view.definition;
    const checked = view.entered ? !NO.has(wordOf(lastEntry(view.entered))) : sentFor(view.value) === '1';
    const attrs = { id: controlId(view), name, type: 'checkbox', value: '1', checked, required: isDemanded(view) };
    return field(view, `<input${attributes({ ...attrs, ...stateOf(view, 'disabled') })}>`, true);
  },
};
