type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

/** The fields of a part of the page that a visitor sees. */
export const fieldsIn = (root: ParentNode): Field[] => [
  ...root.querySelectorAll<Field>('input:not([type=hidden]), textarea, select'),
];

/** Whether a visitor has changed a field: its content would be lost with it. */
export function isChanged(field: Field): boolean {
  if (field instanceof HTMLSelectElement) return isChosen(field);
  // A box without a value of its own has "on", and '' as its default.
  if (field instanceof HTMLInputElement && /^(?:checkbox|radio)$/.test(field.type))
    return field.checked !== field.defaultChecked;
  return field.value !== field.defaultValue;
}

/** Whether other options are chosen than at first: without one that is marked, a list with one choice begins with its first. */
function isChosen({ options, multiple, selectedIndex }: HTMLSelectElement): boolean {
  const all = [...options];
  if (!multiple && !all.some(({ defaultSelected }) => defaultSelected)) return selectedIndex > 0;
  return all.some(({ selected, defaultSelected }) => selected !== defaultSelected);
}
