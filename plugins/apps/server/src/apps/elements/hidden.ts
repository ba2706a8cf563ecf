import { attributes, controlId, escapeHtml, readableText } from './html';
import { shownText, textInput } from './text-input';
import type { ElementType } from './types';

/** A value that travels with the form unseen; as open to change by the visitor as any other field. */
export const hidden: ElementType = {
  ...textInput({ type: 'hidden' }),
  render(view) {
    if (view.mode === 'text') return readableText(view.value);
    const { name } = view.definition;
    const input = `<input${attributes({ id: controlId(view), name, type: 'hidden', value: shownText(view) })}>`;
    // Nobody can correct an unseen field, but they must learn why the form was refused.
    return view.error ? `${input}<span class="apps-error" role="alert">${escapeHtml(view.error)}</span>` : input;
  },
};
