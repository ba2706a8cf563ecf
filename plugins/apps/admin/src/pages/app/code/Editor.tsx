import { autocompletion } from '@codemirror/autocomplete';
import { type Diagnostic, setDiagnostics } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import type { AppDetail, CodeHints, CodeProblem } from '../../../../../shared/admin-api';
import { completionsOf } from './completions';
import { languageOf } from './languages';
import { basics, useColours } from './setup';

interface Props {
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
export function Editor({ app, path, text, readOnly, problems, hints, label, onChange, onSave }: Props) {
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
