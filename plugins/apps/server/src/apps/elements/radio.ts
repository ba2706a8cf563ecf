import { choiceGroup, chosenLabels, oneSchema, optionsSetting, readOne } from './inputs/choice';
import { inputSettings } from './inputs/settings';
import type { ElementType } from './types';

/** One of several options, all of them visible. */
export const radio: ElementType = {
  role: 'input',
  settings: { ...inputSettings, ...optionsSetting },
  schema: oneSchema,
  read: readOne,
  render: (view) => (view.mode === 'text' ? chosenLabels(view) : choiceGroup(view, 'radio')),
};
