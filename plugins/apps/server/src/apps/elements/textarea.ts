import { attributes, controlId, escapeHtml, field, isDemanded, readableText, stateOf } from './inputs/html';
import { rows } from './inputs/settings';
import {
  checkLengths,
  inLines,
  lastEntry,
  shownText,
  textAttributes,
  textProblem,
  textSchema,
  textSettings,
} from './inputs/text-input';
import type { ElementType } from './types';

/** Several lines of text; all line ends are stored as `\n`. */
export const textarea: ElementType = {
  role: 'input',
  settings: { ...textSettings, ...rows },
  check: checkLengths,
  schema: (definition) => textSchema(definition),
  compares: (submitted) => [inLines(lastEntry(submitted))],
  read(submitted, definition, _options, work) {
    const value = lastEntry(submitted).replace(/\r\n?/g, '\n');
    const error = textProblem(value, definition, work);
    return error === null ? { value } : { error };
  },
  render(view) {
    if (view.mode === 'text') return readableText(view.value);
    const { name, rows } = view.definition;
    const { pattern: _notInHtml, ...limits } = textAttributes(view.definition);
    const attrs = attributes({
      id: controlId(view),
      name,
      required: isDemanded(view),
      rows,
      ...limits,
      ...stateOf(view),
    });
    // A browser drops a line break right after the tag, so that the text would lose its own.
    return field(view, `<textarea${attrs}>\n${escapeHtml(shownText(view))}</textarea>`);
  },
};
