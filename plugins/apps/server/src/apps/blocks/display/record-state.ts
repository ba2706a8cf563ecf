import { attributes, escapeHtml } from '../../elements';
import type { Shown } from '../../run/context-data';
import { labelOf, mayMove, stateOf, waysFrom } from '../../run/places/record-states';
import { localeOf } from '../../run/site-locale';
import type { Run } from '../../run/types';
import type { States } from '../../types';

/** What shows the state of a record in a layout, and the name of its buttons. */
export const STATE_BUTTONS = '_state';

/**
 * The state of a record, and beside its text a button for each state into which the requester may bring it. A form has no such
 * buttons: what was entered would be lost. Nothing without a record.
 * @param formAction the address that the buttons send to
 */
export async function stateHtml(
  run: Run,
  states: States,
  { record, mode }: Shown,
  formAction: string | undefined,
): Promise<string> {
  if (!record) return '';
  const from = stateOf(states, record.items);
  const name = from ? labelOf(states, from.name) : String(record.items.state ?? '');
  const { say } = await localeOf(run);
  const ways = mode === 'text' && mayMove(run, from, record.creator) ? waysFrom(states, from) : [];
  const buttons = ways.map((to) => {
    const attrs = { type: 'submit', name: STATE_BUTTONS, value: to, class: 'apps-action', formaction: formAction };
    const label = say('state_to', { state: labelOf(states, to) });
    return ` <button${attributes({ ...attrs, formnovalidate: true })}>${escapeHtml(label)}</button>`;
  });
  const group = attributes({ class: 'apps-state', role: 'group', 'aria-label': say('state') });
  return `<span${group}><strong${attributes({ 'data-state': from?.name })}>${escapeHtml(name)}</strong>${buttons.join('')}</span>`;
}
