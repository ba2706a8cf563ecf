import { message } from '../locales';
import {
  choiceGroup,
  choicesCompared,
  chosenLabels,
  manySchema,
  optionsSetting,
  readMany,
  textsChosen,
} from './inputs/choice';
import { inputSettings } from './inputs/settings';
import type { ElementType } from './types';

/** Any number of options, stored as a list. */
export const checkboxes: ElementType = {
  role: 'input',
  settings: { ...inputSettings, ...optionsSetting },
  isList: () => true,
  otherType: message('choose_known'),
  schema: manySchema,
  shows: textsChosen,
  compares: choicesCompared,
  read: readMany,
  render: (view) => (view.mode === 'text' ? chosenLabels(view) : choiceGroup(view, 'checkbox')),
};
