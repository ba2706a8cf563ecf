import type { ElementDefinition } from '../types';
import { attributes, escapeHtml } from './html';
import type { ElementType } from './types';

const builtInLabels: Record<string, string> = { _save: 'Save', _edit: 'Edit', _delete: 'Delete' };

/** The actions that every block has without declaring them, with their own labels (contract, section 7). */
export const builtInActions: ReadonlyMap<string, ElementDefinition> = new Map(
  Object.entries(builtInLabels).map(([name, label]) => [name, { name, type: 'ACTION', label, position: { file: '' } }]),
);

/** Name under which a form says that an action's button was pressed: `action.<element>`, or the built-in's own name. */
export function actionField(name: string): string {
  return builtInActions.has(name) ? name : `action.${name}`;
}

/** A button that submits the block and runs the function of the element's name. Looks the same in every mode. */
export const action: ElementType = {
  keys: ['label'],
  input: false,
  render({ definition: { name, label }, formAction }) {
    // Only saving is stopped by an empty required field.
    const formnovalidate = name !== '_save';
    const attrs = {
      type: 'submit',
      name: actionField(name),
      value: '1',
      class: 'apps-action',
      formaction: formAction,
      formnovalidate,
    };
    return `<button${attributes(attrs)}>${escapeHtml(label ?? builtInLabels[name] ?? name)}</button>`;
  },
};
