import { message } from '../locales';
import { choiceGroup, chosenLabels, manySchema, optionsSetting, readMany } from './inputs/choice';
import { inputSettings } from './inputs/settings';
import type { ElementType } from './types';

/** Any number of options, stored as a list. */
export const checkboxes: ElementType = {
  role: 'input',
  settings: { ...inputSettings, ...optionsSetting },
  isList: () => true,
  otherType: message('choose_known'),
  schema: manySchema,
  read: readMany,
  render: (view) => (view.mode === 'text' ? chosenLabels(view) : choiceGroup(view, 'checkbox')),
};
