import type { FlashMessage } from '../../auth/types';
import { escapeHtml } from '../elements';

/**
 * The HTML of messages for the visitor (docs/reference/site.md#messages-for-the-visitor).
 * @param onward text of a link that leads on
 */
export function flashHtml(messages: readonly FlashMessage[], onward: string): string {
  const link = (to: string | undefined) =>
    to === undefined ? '' : ` <a href="${escapeHtml(to)}">${escapeHtml(onward)}</a>`;
  const texts = messages.map(({ text, to }) => `<p>${escapeHtml(text)}${link(to)}</p>`);
  return `<div class="apps-flash" role="status">${texts.join('')}</div>`;
}

/** The main content of a page with messages: at the begin of its form, which the browser script replaces as a whole. */
export function withFlash(main: string, html: string): string {
  if (html === '') return main;
  const [form = ''] = /^<form [^>]*>/.exec(main) ?? [];
  return `${form}${html}${main.slice(form.length)}`;
}
