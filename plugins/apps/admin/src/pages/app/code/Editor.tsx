import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { javascript } from '@codemirror/lang-javascript';
import { liquid } from '@codemirror/lang-liquid';
import { python } from '@codemirror/lang-python';
import { yaml } from '@codemirror/lang-yaml';
import {
  bracketMatching,
  defaultHighlightStyle,
  foldGutter,
  foldKeymap,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language';
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension } from '@codemirror/state';
import { oneDark } from '@codemirror/theme-one-dark';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { useTheme } from 'styled-components';
import type { AppDetail, CodeHints, CodeProblem } from '../../../../../shared/admin-api';
import { completionsOf } from './completions';

const languages: Record<string, () => Extension> = {
  html: liquid,
  liquid,
  js: () => javascript(),
  mjs: () => javascript(),
  json: () => javascript(),
  ts: () => javascript({ typescript: true }),
  py: python,
  yaml,
  yml: yaml,
};

/** The colours of a file's language; none for other texts. */
export const languageOf = (path: string): Extension => languages[path.split('.').at(-1) ?? '']?.() ?? [];

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

interface EditorProps {
  app: AppDetail;
  path: string;
  text: string;
  readOnly: boolean;
  /** Of this file. */
  problems: CodeProblem[];
  hints: CodeHints | undefined;
  label: string;
  onChange(text: string): void;
  onSave(): void;
}

/** CodeMirror with one file. Tab leaves it; Mod-s saves. */
export function Editor({ app, path, text, readOnly, problems, hints, label, onChange, onSave }: EditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const handlers = useRef({ onChange, onSave });
  handlers.current = { onChange, onSave };
  // They change with each save, after which the editor must be as before.
  const known = useRef({ app, hints });
  known.current = { app, hints };
  const colours = useColours();
  const first = useRef(text);
  first.current = text;
  useEffect(() => {
    const run = () => {
      handlers.current.onSave();
      return true;
    };
    const save = { key: 'Mod-s', preventDefault: true, run };
    const editor = new EditorView({
      parent: place.current as HTMLDivElement,
      state: EditorState.create({
        doc: first.current,
        extensions: [
          basics,
          keymap.of([save]),
          languageOf(path),
          autocompletion({ override: completionsOf(path, () => known.current) }),
          EditorState.readOnly.of(readOnly),
          EditorView.contentAttributes.of({ 'aria-label': label }),
          EditorView.updateListener.of(
            ({ docChanged, state }) => docChanged && handlers.current.onChange(state.doc.toString()),
          ),
          colours,
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, [path, readOnly, label, colours]);
  useEffect(() => {
    const editor = view.current;
    if (editor && editor.state.doc.toString() !== text)
      editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text } });
  }, [text]);
  useEffect(() => {
    const editor = view.current;
    if (editor)
      editor.dispatch(
        setDiagnostics(
          editor.state,
          problems.map((one) => diagnosticOf(editor.state, one)),
        ),
      );
  }, [problems]);
  return <div ref={place} style={{ overflow: 'auto', maxHeight: '70vh', fontSize: '1.4rem' }} />;
}

function diagnosticOf({ doc }: EditorState, { line, column, message, severity, cure }: CodeProblem): Diagnostic {
  const at = doc.line(Math.min(Math.max(1, line ?? 1), doc.lines));
  const from = Math.min(at.to, at.from + Math.max(0, (column ?? 1) - 1));
  return { from, to: Math.max(from, at.to), severity, message: cure ? `${message}. ${cure}` : message };
}
