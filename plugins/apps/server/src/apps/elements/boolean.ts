import { message } from '../locales';
import { attributes, controlId, field, isDemanded, stateOf } from './inputs/html';
import { inputSettings } from './inputs/settings';
import { lastEntry } from './inputs/text-input';
import type { ElementType } from './types';

const NO = new Set(['', '0', 'false', 'off', 'no']);
const YES = new Set(['1', 'true', 'on', 'yes']);

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
  read(submitted, { required }) {
    const value = !NO.has(wordOf(lastEntry(submitted)));
    return required && !value ? { error: message('check') } : { value };
  },
  render(view) {
    if (view.mode === 'text') return typeof view.value === 'boolean' ? view.locale.say(view.value ? 'yes' : 'no') : '';
    const { name } = view.definition;
    const checked = view.entered ? !NO.has(wordOf(lastEntry(view.entered))) : view.value === true;
    const attrs = { id: controlId(view), name, type: 'checkbox', value: '1', checked, required: isDemanded(view) };
    return field(view, `<input${attributes({ ...attrs, ...stateOf(view, 'disabled') })}>`, true);
  },
};
