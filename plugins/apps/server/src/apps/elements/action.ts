import type { ServiceMessage } from '../locales';
import type { ElementDefinition } from '../types';
import { caption, flag } from '../yaml-schema';
import { attributes, escapeHtml } from './inputs/html';
import { checkAlone, classNames, label, type Settings, storedSettings, verify } from './inputs/settings';
import type { ElementType, ElementView } from './types';

/** The name of the type of buttons. */
export const ACTION = 'ACTION';

/** The messages that are the default labels of built-in actions. */
const builtInLabels: Record<string, ServiceMessage> = {
  _save: 'save',
  _edit: 'edit',
  _delete: 'delete',
  _draft: 'draft',
};

/** Name of the form field that an action's button sends: `action.<element>`, or the built-in's own name. */
export function actionField(name: string): string {
  return builtInActions.has(name) ? name : `action.${name}`;
}

/** What an action asks and checks before its function runs. */
export type ButtonSettings = {
  /** The question that a visitor must answer. */
  confirm?: string;
  /** Whether the form is checked. */
  validates?: boolean;
};

const buttonSettings: Settings<ButtonSettings> = {
  ...label,
  ...classNames,
  confirm: { own: 'confirm', check: caption, isText: true },
  validates: { own: 'validates', check: flag },
};

/** A button that submits the block and runs the function of the element's name. Every mode shows the same button. */
export const action: ElementType<ButtonSettings> = {
  role: 'action',
  notRepeated: 'an entry has no actions of its own',
  settings: { ...buttonSettings, ...verify },
  check(definition, at) {
    const { name, verify } = definition;
    const { validates } = definition.settings;
    checkAlone(definition, at, buttonSettings);
    if (verify !== undefined && builtInActions.has(name))
      at.child('verify').fail(`"${name}" is a built-in action, which no webhook calls`);
    if (validates !== undefined && builtInActions.has(name))
      at.child('validates').fail(`"${name}" is a built-in action: "_save" always checks the form, the others never do`);
  },
  show: buttonHtml,
};

/** The button of an action. */
export function buttonHtml({
  definition,
  entered,
  formAction,
  disabled,
  locale,
}: Pick<ElementView, 'definition' | 'entered' | 'formAction' | 'disabled' | 'locale'>): string {
  const { name } = definition;
  const { validates, confirm } = definition.settings as ButtonSettings;
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
    'data-apps-confirm': confirm,
  };
  return `<button${attributes(attrs)}>${escapeHtml(definition.label ?? (builtIn ? locale.say(builtIn) : name))}</button>`;
}

/**
 * The actions that every block has without declaring them, with their default labels
 * (docs/reference/definitions.md#built-in-actions).
 */
export const builtInActions: ReadonlyMap<string, ElementDefinition> = new Map(
  Object.keys(builtInLabels).map((name) => [
    name,
    { name, type: ACTION, kind: action, settings: {}, position: { file: '' } },
  ]),
);

/** HTML that the function of the element's name returns. */
export const basic: ElementType = {
  role: 'html',
  notRepeated: 'an entry has fields only',
  settings: { ...storedSettings, ...verify },
  check: (definition, at) => checkAlone(definition, at, storedSettings),
};
