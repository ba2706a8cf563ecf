import { ariaLabel, attributes, controlId, describedBy, escapeHtml, field, readableText } from './html';
import { text } from './text';
import { lastEntry, shownText, textAttributes, textProblem } from './text-input';
import type { ElementType } from './types';

/** Several lines of text; line ends are stored as `\n`, whatever the browser sent. */
export const textarea: ElementType = {
  keys: text.keys,
  input: true,
  read(submitted, definition, _options, work) {
    const value = lastEntry(submitted).replace(/\r\n?/g, '\n');
    const error = textProblem(value, definition, work);
    return error === null ? { value } : { error };
  },
  render(view) {
    if (view.mode === 'text') return readableText(view.value);
    const { name, required } = view.definition;
    const { pattern: _notInHtml, ...limits } = textAttributes(view.definition);
    const attrs = attributes({
      id: controlId(view),
      name,
      required,
      ...limits,
      ...ariaLabel(view),
      ...describedBy(view),
    });
    // A browser drops the first line break after the tag, so one is given for it to drop.
    return field(view, `<textarea${attrs}>\n${escapeHtml(shownText(view))}</textarea>`);
  },
};
