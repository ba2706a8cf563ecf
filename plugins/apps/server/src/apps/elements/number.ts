import { field, readableText } from './html';
import { rangeProblem, type Scale } from './range';
import { control, inputKeys, lastEntry, REQUIRED } from './text-input';
import type { ElementType } from './types';

/** No two of its parts take the same characters, so that it looks at each once. */
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

const scale: Scale = {
  position: (value) => (typeof value === 'number' ? value : NUMBER.test(value) ? finite(Number(value)) : null),
  stepSize: 1,
};

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

/** A number; an empty field is null. Without `step` any number is taken. */
export const number: ElementType = {
  keys: [...inputKeys, 'placeholder', 'min', 'max', 'step'],
  input: true,
  read(submitted, definition) {
    const text = lastEntry(submitted).trim();
    if (text === '') return definition.required ? { error: REQUIRED } : { value: null };
    const value = scale.position(text);
    if (value === null) return { error: 'Please enter a number.' };
    const error = rangeProblem(value, definition, scale);
    return error === null ? { value: value === 0 ? 0 : value } : { error };
  },
  render(view) {
    if (view.mode === 'text') return readableText(view.value);
    const { placeholder, min, max, step } = view.definition;
    return field(view, control(view, 'number', { placeholder, min, max, step: step ?? 'any' }));
  },
};
