import {
  choiceGroup,
  choicesCompared,
  chosenLabels,
  isScalar,
  oneSchema,
  optionsSetting,
  readOne,
  textsChosen,
  UNKNOWN_OPTION,
} from './inputs/choice';
import { inputSettings, unique } from './inputs/settings';
import type { ElementType } from './types';

/** One of several options, all of them visible. */
export const radio: ElementType = {
  role: 'input',
  otherType: UNKNOWN_OPTION,
  // A browser sends nothing where none is chosen.
  sent: (value) => (value === null || value === '' ? [] : isScalar(value) ? [String(value)] : UNKNOWN_OPTION),
  settings: { ...inputSettings, ...optionsSetting, ...unique },
  schema: oneSchema,
  shows: textsChosen,
  compares: choicesCompared,
  read: readOne,
  render: (view) => (view.mode === 'text' ? chosenLabels(view) : choiceGroup(view, 'radio')),
};
