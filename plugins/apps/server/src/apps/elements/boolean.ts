import { message } from '../locales';
import { attributes, controlId, field, isDemanded, stateOf } from './inputs/html';
import { inputSettings } from './inputs/settings';
import { lastEntry } from './inputs/text-input';
import type { ElementType } from './types';

const NO = new Set(['', '0', 'false', 'off', 'no']);

/** A checkbox. A browser sends nothing for an unchecked one, so that an absent field is false. */
export const boolean: ElementType = {
  role: 'input',
  settings: inputSettings,
  schema: () => ({ type: 'boolean' }),
  read(submitted, { required }) {
    const value = !NO.has(lastEntry(submitted).trim().toLowerCase());
    return required && !value ? { error: message('check') } : { value };
  },
  render(view) {
    if (view.mode === 'text') return typeof view.value === 'boolean' ? view.locale.say(view.value ? 'yes' : 'no') : '';
    const { name } = view.definition;
    const checked = view.entered ? !NO.has(lastEntry(view.entered).trim().toLowerCase()) : view.value === true;
    const attrs = { id: controlId(view), name, type: 'checkbox', value: '1', checked, required: isDemanded(view) };
    return field(view, `<input${attributes({ ...attrs, ...stateOf(view, 'disabled') })}>`, true);
  },
};
