import { chosenIn, chosenLabels, readMany, readOne } from './choice';
import { ariaLabel, attributes, controlId, describedBy, escapeHtml, field } from './html';
import { inputKeys } from './text-input';
import type { ElementType, ElementView } from './types';

/** A list to choose from; with `multiple`, any number of its options, stored as a list. */
export const select: ElementType = {
  keys: [...inputKeys, 'placeholder', 'options', 'multiple'],
  input: true,
  read: (submitted, definition, options) => (definition.multiple ? readMany : readOne)(submitted, definition, options),
  render(view) {
    if (view.mode === 'text') return chosenLabels(view);
    const { name, required, multiple } = view.definition;
    const attrs = attributes({
      id: controlId(view),
      name,
      required,
      multiple,
      ...ariaLabel(view),
      ...describedBy(view),
    });
    const isChosen = chosenIn(view);
    const options = view.options.map((option) => {
      const own = attributes({ value: String(option.value), selected: isChosen(option) });
      return `<option${own}>${escapeHtml(option.label)}</option>`;
    });
    return field(view, `<select${attrs}>${emptyOption(view)}${options.join('')}</select>`);
  },
};

/** Without it the browser would choose the first option by itself. */
function emptyOption({ definition, options }: ElementView): string {
  if (definition.multiple || options.some(({ value }) => value === '')) return '';
  return `<option value="">${escapeHtml(definition.placeholder ?? '')}</option>`;
}
