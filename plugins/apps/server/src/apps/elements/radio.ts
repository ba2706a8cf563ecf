import { choiceGroup, chosenLabels, readOne } from './choice';
import { inputKeys } from './text-input';
import type { ElementType } from './types';

/** One of a few options, all of them in sight. */
export const radio: ElementType = {
  keys: [...inputKeys, 'options'],
  input: true,
  read: readOne,
  render: (view) => (view.mode === 'text' ? chosenLabels(view) : choiceGroup(view, 'radio')),
};
