import { flag } from '../yaml/schema';
import {
  checkUnique,
  choicesCompared,
  chosenIn,
  chosenLabels,
  manySchema,
  oneSchema,
  optionsSetting,
  optionsToShow,
  readMany,
  readOne,
  textsChosen,
  UNKNOWN_OPTION,
} from './inputs/choice';
import { attributes, controlId, escapeHtml, field, isDemanded, stateOf } from './inputs/html';
import { autocomplete, inputSettings, placeholder, unique } from './inputs/settings';
import type { ElementType, ElementView } from './types';

/** A list to choose from; with `multiple`, any number of its options, stored as a list. */
export const select: ElementType = {
  role: 'input',
  settings: {
    ...inputSettings,
    ...placeholder,
    ...autocomplete,
    ...optionsSetting,
    ...unique,
    multiple: { as: 'multiple', check: flag },
  },
  check: checkUnique,
  isList: ({ multiple }) => multiple === true,
  otherType: UNKNOWN_OPTION,
  schema: (definition) => (definition.multiple ? manySchema : oneSchema)(definition),
  shows: textsChosen,
  compares: choicesCompared,
  read: (submitted, definition, options) => (definition.multiple ? readMany : readOne)(submitted, definition, options),
  render(view) {
    return view.mode === 'text' ? chosenLabels(view) : field(view, selectControl(view));
  },
};

/** The list without its label. */
export function selectControl(view: ElementView): string {
  const { name, multiple } = view.definition;
  const attrs = attributes({
    id: controlId(view),
    name,
    required: isDemanded(view),
    multiple,
    ...stateOf(view, 'disabled'),
  });
  const isChosen = chosenIn(view);
  const shown = optionsToShow(view);
  const options = shown.map((option) => {
    const own = attributes({ value: String(option.value), selected: isChosen(option), disabled: option.isFull });
    return `<option${own}>${escapeHtml(option.label)}</option>`;
  });
  return `<select${attrs}>${emptyOption({ ...view, options: shown })}${options.join('')}</select>`;
}

/**
 * Without an empty option the browser would choose the first one. A list with a default has none, as long as an option is
 * chosen.
 */
function emptyOption(view: ElementView): string {
  const { definition, options, hasDefault } = view;
  if (definition.multiple || options.some(({ value }) => value === '')) return '';
  if ((hasDefault || definition.default != null) && options.some(chosenIn(view))) return '';
  return `<option value="">${escapeHtml(definition.placeholder ?? '')}</option>`;
}
