import { MAX_MARKDOWN } from '../../layouts';
import { plainText } from './inputs/html';
import { textarea } from './textarea';
import type { ElementType } from './types';

/** A text with Markdown: entered in a text field, shown as HTML without anything active. */
export const markdown: ElementType = {
  ...textarea,
  read: (submitted, definition, options, work) =>
    textarea.read?.(submitted, { ...definition, maxlength: definition.maxlength ?? MAX_MARKDOWN }, options, work) ?? {
      value: '',
    },
  show: (view, tools) => tools.markdown(plainText(view.value)),
};
