/**
 * Fields that show on a condition (docs/reference/definitions.md#show_if). The server checks the same conditions; without
 * this script all fields are there.
 */
interface Condition {
  values: string[];
  not: boolean;
  isNumber?: true;
  also?: Condition;
}

type Conditions = Record<string, Condition>;

const SELECTOR = '[data-apps-show-if]';

type Control = HTMLInputElement & { appsDisabled?: boolean };

/** Shows and hides the fields of a block, now and at each change. */
export function keepConditions(form: HTMLFormElement): void {
  if (!form.querySelector(SELECTOR)) return;
  const update = () => {
    // In the order of the page: a hidden field is empty to those after it.
    for (const element of form.querySelectorAll<HTMLElement>(SELECTOR)) show(element, isMet(form, element));
  };
  form.addEventListener('input', update);
  form.addEventListener('reset', () => setTimeout(update));
  update();
}

function isMet(form: HTMLFormElement, element: HTMLElement): boolean {
  const all = JSON.parse(element.dataset.appsShowIf ?? '{}') as Conditions;
  const data = new FormData(form);
  return Object.entries(all).every(([name, condition]) => {
    const given = data.getAll(name).map(String);
    return holds(condition, given.length > 0 ? given : ['']);
  });
}

const holds = ({ values, not, isNumber, also }: Condition, given: readonly string[]): boolean =>
  given.some((one) =>
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
