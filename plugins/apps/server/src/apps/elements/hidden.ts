import { attributes, controlId, escapeHtml, readableText } from './inputs/html';
import { inLines, lastEntry, shownText, textInput } from './inputs/text-input';
import type { ElementType } from './types';

/** An invisible value of the form; a visitor can change it like any other field. */
export const hidden: ElementType = {
  ...textInput({ type: 'hidden' }),
  compares: (submitted) => [inLines(lastEntry(submitted))],
  render(view) {
    if (view.mode === 'text') return readableText(view.value);
    const { name } = view.definition;
    const input = `<input${attributes({ id: controlId(view), name, type: 'hidden', value: shownText(view) })}>`;
    // A visitor cannot correct an invisible field, but must learn why the form was refused.
    return view.error ? `${input}<span class="apps-error" role="alert">${escapeHtml(view.error)}</span>` : input;
  },
};
