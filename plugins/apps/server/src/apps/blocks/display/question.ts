import { actionField, attributes, builtInActions, elementTypes, escapeHtml } from '../../elements';
import { localeOf } from '../../run/locale';
import type { Run } from '../../run/types';
import type { Block, ElementDefinition } from '../../types';
import type { FormFields } from '../sent/form';
import type { DisplayOptions } from './element-contents';
import { formHtml } from './form';

/** The form field that names the action whose question was answered with yes. */
const ANSWERED = '_confirm';

/** Fields that the form gets again. */
const ownFields = new Set(['_csrf', '_website', '_shown', '_proof', ANSWERED]);

const answeredIn = (fields: FormFields) => [fields[ANSWERED]].flat().filter((name) => typeof name === 'string');

/** The action of a posted form that has a question (`confirm`) which was not answered yet; null if there is none. */
export function unanswered(block: Block, fields: FormFields): ElementDefinition | null {
  const answered = answeredIn(fields);
  const { elements, builtIn } = block.definition;
  for (const element of new Map([...builtIn, ...elements]).values()) {
    const isAsked = element.confirm && Object.hasOwn(fields, actionField(element.name));
    if (isAsked && !answered.includes(element.name)) return element;
  }
  return null;
}

/**
 * The block's form with the question of an action instead of its layout (docs/reference/definitions.md#confirm). It carries
 * all submitted fields, so that either answer keeps them. The browser script asks before it submits.
 */
export async function questionHtml(
  run: Run,
  block: Block,
  options: DisplayOptions,
  element: ElementDefinition,
  fields: FormFields,
): Promise<string> {
  const locale = await localeOf(run);
  const { name, confirm = '', label } = element;
  const isAction = (field: string) => field === actionField(name) || builtInActions.has(field) || ownFields.has(field);
  const entries = Object.entries(fields).flatMap(([field, value]) =>
    isAction(field) ? [] : [value].flat().map((one) => hidden(field, String(one ?? ''))),
  );
  const yes = elementTypes.get('ACTION')?.render?.({
    definition: { ...element, confirm: undefined, label },
    mode: 'input',
    value: null,
    entered: [fields[actionField(name)]].flat().map(String),
    error: null,
    options: [],
    locale,
  });
  const answers = [...new Set([...answeredIn(fields), name])].map((one) => hidden(ANSWERED, one));
  const main =
    `<p class="apps-question">${escapeHtml(confirm)}</p>${entries.join('')}${answers.join('')}` +
    `<p>${yes} <button type="submit" class="apps-action apps-cancel" formnovalidate>${escapeHtml(locale.say('cancel'))}</button></p>`;
  return formHtml(run, block, options, main);
}

const hidden = (name: string, value: string) => `<input${attributes({ type: 'hidden', name, value })}>`;
