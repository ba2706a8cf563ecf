import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  closeBrackets,
  closeBracketsKeymap,
  completeFromList,
  completionKeymap,
} from '@codemirror/autocomplete';
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
import type { AppDetail, CodeHints, CodeProblem, ContextMember } from '../../../../../shared/admin-api';

type Source = (context: CompletionContext) => CompletionResult | null | Promise<CompletionResult | null>;

/** What is known while a file is edited. */
interface Known {
  app: AppDetail;
  hints: CodeHints | undefined;
}

/**
 * What is completed in a file: keys of a definition or of the settings; members of `context` by their types; elements of the
 * block.
 */
export function completionsOf(path: string, known: () => Known): Source[] {
  const block = /^blocks\/([^/]+)\.[a-z]+$/.exec(path)?.[1];
  const elements = () => elementsOf(known().app, block);
  if (/\.ya?ml$/.test(path))
    return [(context) => keys(known().hints, path === 'settings.yaml' ? 'settings' : 'definition')(context)];
  if (/\.(js|mjs|ts|py)$/.test(path))
    return [
      (context) => members(context, known().hints?.types ?? {}, elements()),
      (context) => quoted(context, known().hints?.types ?? {}, elements(), known().app),
    ];
  return /\.(html|liquid)$/.test(path) ? [(context) => afterBrace(context, elements())] : [];
}

const elementsOf = (app: AppDetail, block: string | undefined): Completion[] =>
  (app.blocks.find(({ id }) => id === block)?.elements ?? []).map(({ name, type }) => ({
    label: name,
    detail: type,
    type: 'variable',
  }));

const keys = (hints: CodeHints | undefined, which: 'definition' | 'settings'): Source =>
  completeFromList((hints?.[which] ?? []).map((label) => ({ label, type: 'property' })));

/** Objects with members, each with the arguments of a call that it may be the result of: `context.app.get_record('x').`. */
const PATH = /(?:[A-Za-z_]\w*(?:\([^()\n]*\))?\??\.)+/;
const BEFORE_MEMBER = new RegExp(`${PATH.source}\\w*$`);
/** An object and its method or bracket, before a text that is being written: `record.get("`, `record["`. */
const BEFORE_TEXT = new RegExp(`(${PATH.source.replace(/\+$/, '*')}[A-Za-z_]\\w*)\\s*([([])\\s*["'][\\w-]*$`);

/** `context.app.` offers the members of an app, and `record.` also the block's elements: items are properties. */
function members(
  context: CompletionContext,
  types: CodeHints['types'],
  elements: readonly Completion[],
): CompletionResult | null {
  const found = context.matchBefore(BEFORE_MEMBER);
  const type = found && typeOf(namesOf(found.text).slice(0, -1), types);
  if (!found || !type) return null;
  const from = found.from + found.text.search(/\w*$/);
  const items = type === 'AppRecord' ? elements : [];
  return { from, options: [...(types[type] ?? []).map(option), ...items], validFor: /^\w*$/ };
}

/** Texts that name an element or a block, by the type and the method that takes them; `[` is an item. */
const TAKES: Readonly<Record<string, readonly string[]>> = {
  AppRecord: ['get', 'set', 'inc', '['],
  Request: ['get', 'has'],
  ParentRequest: ['get', 'has'],
  Context: ['invalid'],
  App: ['get_block'],
};

/** `record.get("` offers the elements of the block, `get_block("` the blocks of the app. */
function quoted(
  context: CompletionContext,
  types: CodeHints['types'],
  elements: readonly Completion[],
  { blocks }: AppDetail,
): CompletionResult | null {
  const found = context.matchBefore(BEFORE_TEXT);
  const [, path = '', bracket = ''] = found ? (BEFORE_TEXT.exec(found.text) ?? []) : [];
  const names = namesOf(path);
  const method = bracket === '[' ? '[' : (names.pop() ?? '');
  const type = typeOf(names, types);
  if (!found || !type || !TAKES[type]?.includes(method)) return null;
  const ids = blocks.map(({ id }): Completion => ({ label: id, type: 'class' }));
  const from = found.from + found.text.search(/[\w-]*$/);
  return { from, options: type === 'App' ? ids : [...elements], validFor: /^[\w-]*$/ };
}

/** The names of `context.app.get_record('x').na`, without arguments. */
const namesOf = (path: string): string[] =>
  path.split(/\.(?![^(]*\))/).map((name) => name.replace(/(\([^()]*\))?\??$/, ''));

/** The type of an object by its path. The first name is `context`, or that of a property, as in `({ app, record })`. */
function typeOf(names: readonly string[], types: CodeHints['types']): string | null {
  const [first, ...rest] = names;
  let type = first === 'context' ? 'Context' : typeNamed(first, types);
  for (const name of rest) {
    const owner = type;
    type = owner === null ? null : (types[owner]?.find((member) => member.name === name)?.type ?? null);
  }
  return type;
}

/** The type of a variable that is named like a property of `context` or of one of its objects. */
function typeNamed(name: string | undefined, types: CodeHints['types']): string | null {
  for (const members of Object.values(types)) {
    const member = members.find((one) => one.kind === 'property' && one.name === name && one.type !== null);
    if (member) return member.type;
  }
  return null;
}

function option({ name, kind, signature, doc }: ContextMember): Completion {
  const [first = '', ...others] = signature.split('\n');
  const detail = others.length > 0 ? `${first} (+${others.length})` : first;
  const info = [...(others.length > 0 ? [signature.replaceAll(/^/gm, name)] : []), doc].filter(Boolean).join('\n\n');
  return { label: name, detail, type: kind, ...(info && { info }) };
}

function afterBrace(context: CompletionContext, options: readonly Completion[]): CompletionResult | null {
  const found = context.matchBefore(/\{\s*\w*$/);
  return found && { from: found.from + found.text.search(/\w*$/), options, validFor: /^\w*$/ };
}

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
