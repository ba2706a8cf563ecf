import { attributes, escapeHtml, localeOf, type OwnLink } from '../../apps';
import { readableMinute } from '../../common/values/moments';
import type { Exchange } from '../request/exchange';

/** The buttons below an own record that deletes it, and that ends its link. */
export const WITHDRAW = '_withdraw';
export const REVOKE = '_revoke';

/** A button of an own record's page. @param value `ask` before its question, `yes` as the answer to it */
export const ownButton = (name: string, value: 'ask' | 'yes', label: string): string =>
  `<button${attributes({ type: 'submit', class: 'apps-action', name, value })}>${escapeHtml(label)}</button>`;

/** A form of its own beside that of the block, at the address of the link. */
export const ownForm = ({ visit }: Pick<Exchange, 'visit'>, { address }: OwnLink, main: string): string =>
  `<form class="apps-own" method="post" action="${escapeHtml(address)}"><input type="hidden" name="_csrf" value="${escapeHtml(visit.csrfToken())}">${main}</form>`;

/** What stands below an own record: until when it can be changed, and buttons to withdraw it and to end its link. */
export async function ownControls(exchange: Pick<Exchange, 'visit' | 'app'>, own: OwnLink): Promise<string> {
  const locale = await localeOf(exchange);
  const { say } = locale;
  const moment = own.until === null ? null : readableMinute(own.until, locale);
  const isOpen = own.edit || own.delete;
  const text = isOpen ? (moment === null ? '' : say('own_until', { moment })) : say('own_over');
  const withdraw = own.delete ? ownButton(WITHDRAW, 'ask', say('own_withdraw')) : '';
  const note = text === '' ? '' : `<p class="apps-note">${escapeHtml(text)}</p>`;
  const buttons = [withdraw, ownButton(REVOKE, 'ask', say('own_revoke'))].filter(Boolean).join(' ');
  return ownForm(exchange, own, `${note}<p>${buttons}</p>`);
}
