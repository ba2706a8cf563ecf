/**
 * Fields that show on a condition (docs/reference/definitions.md#show_if). The server checks the same conditions; without
 * this script all fields are there.
 */
interface Condition {
  values: string[];
  not: boolean;
  isNumber?: true;
  isTruth?: true;
  also?: Condition;
}

type Conditions = Record<string, Condition>;

const SELECTOR = '[data-apps-show-if]';

type Control = (HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement) & { appsDisabled?: boolean };

/** The controls of a form by their names; those of a repeated group's entries by the group's too. */
type Controls = Map<string, Control[]>;

/** Shows and hides the fields of a block, now and at each change. */
export function keepConditions(form: HTMLFormElement): void {
  if (!form.querySelector(SELECTOR)) return;
  const update = () => {
    const controls = controlsOf(form);
    // In the order of the page: a hidden field is empty to those after it.
    for (const element of form.querySelectorAll<HTMLElement>(SELECTOR)) show(element, isMet(controls, element));
  };
  form.addEventListener('input', update);
  form.addEventListener('reset', () => setTimeout(update));
  update();
}

function controlsOf(form: HTMLFormElement): Controls {
  const controls: Controls = new Map();
  for (const control of form.elements as Iterable<Control>) {
    if (!control.matches('input, select, textarea')) continue;
    const [group = '', , field] = control.name.split(':');
    for (const name of field === undefined ? [control.name] : [control.name, group])
      controls.set(name, [...(controls.get(name) ?? []), control]);
  }
  return controls;
}

function isMet(controls: Controls, element: HTMLElement): boolean {
  const all = JSON.parse(element.dataset.appsShowIf ?? '{}') as Conditions;
  return Object.entries(all).every(([name, condition]) => holds(condition, valuesOf(name, controls.get(name) ?? [])));
}

/** What the fields of a name have: of a repeated group whether it has an entry, which is all that a condition can ask. */
function valuesOf(name: string, controls: readonly Control[]): string[] {
  const given = controls.filter((control) => !control.closest(`${SELECTOR}[hidden]`)).flatMap(textsOf);
  const isGroup = controls.some((control) => control.name !== name);
  if (isGroup) return [given.some((text) => text !== '') ? 'entries' : ''];
  return given.length > 0 ? given : [''];
}

/** What a control has, also one that a visitor cannot change, which a browser does not send. */
function textsOf(control: Control): string[] {
  if (control instanceof HTMLSelectElement) return [...control.selectedOptions].map(({ value }) => value);
  if (control.type === 'checkbox' || control.type === 'radio')
    return (control as HTMLInputElement).checked ? [control.value] : [];
  if (control.type === 'file') return [...((control as HTMLInputElement).files ?? [])].map(({ name }) => name);
  return [control.value];
}

const holds = ({ values, not, isNumber, isTruth, also }: Condition, given: readonly string[]): boolean =>
  // Of a box any text but these words is true, as on the server.
  (isTruth ? [/^(0|false|off|no)?$/i.test(given[given.length - 1] ?? '') ? '' : '1'] : given).some((one) =>
    values.some((value) => value === one || (isNumber && Number.parseFloat(value) === Number.parseFloat(one))),
  ) !== not &&
  (!also || holds(also, given));

/** A hidden field sends nothing, and demands nothing. */
function show(element: HTMLElement, shown: boolean): void {
  element.hidden = !shown;
  element.style.display = shown ? '' : 'none';
  if (element.matches('.apps-group')) return;
  // Its fields may have conditions of their own.
  if (element.matches('fieldset.apps-repeat')) {
    (element as HTMLFieldSetElement).disabled = !shown;
    return;
  }
  for (const control of element.querySelectorAll<Control>('input, select, textarea')) {
    control.appsDisabled ??= control.disabled;
    control.disabled = !shown || control.appsDisabled;
    if ('appsRequired' in control.dataset) control.required = shown;
  }
}
