import { closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import {
  bracketMatching,
  defaultHighlightStyle,
  foldGutter,
  foldKeymap,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language';
import { lintGutter, lintKeymap } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import type { Extension } from '@codemirror/state';
import { oneDark } from '@codemirror/theme-one-dark';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { useTheme } from 'styled-components';

/** What every editor of the panel has. Tab leaves it, so that the keyboard is not caught. */
export const basics: Extension = [
  lineNumbers(),
  highlightSpecialChars(),
  history(),
  foldGutter(),
  lintGutter(),
  drawSelection(),
  indentOnInput(),
  syntaxHighlighting(defaultHighlightStyle, { fallback: true }),
  bracketMatching(),
  closeBrackets(),
  highlightActiveLine(),
  highlightSelectionMatches(),
  // A text is scrolled by the keyboard, also where it cannot be changed.
  EditorView.contentAttributes.of({ tabindex: '0' }),
  keymap.of([
    ...closeBracketsKeymap,
    ...defaultKeymap,
    ...searchKeymap,
    ...historyKeymap,
    ...foldKeymap,
    ...completionKeymap,
    ...lintKeymap,
  ]),
];

/** A background on which all colours of One Dark can be read. */
const dark: Extension = [
  EditorView.theme({ '&, .cm-gutters': { backgroundColor: '#14171c' } }, { dark: true }),
  oneDark,
];

/** One object, because another one would make another editor. */
const light: Extension = [];

/** The colours of the panel's theme: dark where its background is. */
export function useColours(): Extension {
  const { colors } = useTheme() as { colors?: { neutral0?: string } };
  const isDark = colors?.neutral0 !== undefined && colors.neutral0.toLowerCase() !== '#ffffff';
  return isDark ? dark : light;
}
