import type { ServiceMessage } from '../locales';
import type { ElementDefinition } from '../types';
import { flag } from '../yaml/schema';
import { attributes, escapeHtml } from './inputs/html';
import { classNames, confirm, label, type Settings, storedSettings } from './inputs/settings';
import { checkAlone, verify } from './inputs/verify';
import type { ElementType } from './types';

/** The messages that are the default labels of built-in actions. */
const builtInLabels: Record<string, ServiceMessage> = {
  _save: 'save',
  _edit: 'edit',
  _delete: 'delete',
  _draft: 'draft',
};

/**
 * The actions that every block has without declaring them, with their default labels
 * (docs/reference/definitions.md#built-in-actions).
 */
export const builtInActions: ReadonlyMap<string, ElementDefinition> = new Map(
  Object.keys(builtInLabels).map((name) => [name, { name, type: 'ACTION', position: { file: '' } }]),
);

/** Name of the form field that an action's button sends: `action.<element>`, or the built-in's own name. */
export function actionField(name: string): string {
  return builtInActions.has(name) ? name : `action.${name}`;
}

const buttonSettings: Settings = { ...label, ...classNames, ...confirm, validates: { as: 'validates', check: flag } };

/** A button that submits the block and runs the function of the element's name. Every mode shows the same button. */
export const action: ElementType = {
  role: 'action',
  settings: { ...buttonSettings, ...verify },
  check(definition, at) {
    const { name, validates, verify } = definition;
    checkAlone(definition, at, buttonSettings);
    if (verify !== undefined && builtInActions.has(name))
      at.child('verify').fail(`"${name}" is a built-in action, which no webhook calls`);
    if (validates !== undefined && builtInActions.has(name))
      at.child('validates').fail(`"${name}" is a built-in action: "_save" always checks the form, the others never do`);
  },
  render({ definition, entered, formAction, disabled, locale }) {
    const { name, validates } = definition;
    const builtIn = builtInLabels[name];
    // An empty required field stops only saving, and actions that check the form.
    const formnovalidate = name !== '_save' && !validates;
    const attrs = {
      type: 'submit',
      name: actionField(name),
      // The answer to a question sends what the pressed button has sent: of a row, its value.
      value: entered?.[0] ?? '1',
      class: definition.class ? `apps-action ${definition.class}` : 'apps-action',
      formaction: formAction,
      formnovalidate,
      disabled: disabled === true,
      'data-apps-confirm': definition.confirm,
    };
    return `<button${attributes(attrs)}>${escapeHtml(definition.label ?? (builtIn ? locale.say(builtIn) : name))}</button>`;
  },
};

/** HTML that the function of the element's name returns. */
export const basic: ElementType = {
  role: 'html',
  settings: { ...storedSettings, ...verify },
  check: (definition, at) => checkAlone(definition, at, storedSettings),
};
