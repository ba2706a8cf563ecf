import { choiceGroup, chosenLabels, readMany } from './choice';
import { inputKeys } from './text-input';
import type { ElementType } from './types';

/** Any number of a few options, stored as a list. */
export const checkboxes: ElementType = {
  keys: [...inputKeys, 'options'],
  input: true,
  read: readMany,
  render: (view) => (view.mode === 'text' ? chosenLabels(view) : choiceGroup(view, 'checkbox')),
};
