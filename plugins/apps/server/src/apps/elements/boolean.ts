import { ariaLabel, attributes, controlId, describedBy, field } from './html';
import { inputKeys, lastEntry } from './text-input';
import type { ElementType } from './types';

const NO = new Set(['', '0', 'false', 'off', 'no']);

/** A checkbox. A browser sends nothing for one that is not checked: that is false. */
export const boolean: ElementType = {
  keys: inputKeys,
  input: true,
  read(submitted, { required }) {
    const value = !NO.has(lastEntry(submitted).trim().toLowerCase());
    return required && !value ? { error: 'Please check this box.' } : { value };
  },
  render(view) {
    if (view.mode === 'text') return view.value === true ? 'Yes' : view.value === false ? 'No' : '';
    const { name, required } = view.definition;
    const checked = view.entered ? !NO.has(lastEntry(view.entered).trim().toLowerCase()) : view.value === true;
    const attrs = { id: controlId(view), name, type: 'checkbox', value: '1', checked, required };
    return field(view, `<input${attributes({ ...attrs, ...ariaLabel(view), ...describedBy(view) })}>`, true);
  },
};
