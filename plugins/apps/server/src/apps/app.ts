import { isAppsError } from '../errors';
import type { IndexDeclarations, IndexType } from '../indexes/types';
import { type AppFolder, isId, type ThemeFile } from '../sites';
import { emptyDefinition, readDefinition } from './definition';
import { emptySettings, readSettings } from './settings';
import type { App, Block, Definition } from './types';
import { definitionError, type Tolerance } from './yaml';
import { readThemeInfo } from './yaml-theme';

type Part = 'layout' | 'logic' | 'definition';

/** What the files of a block are, by their extension (contract, section 2). */
const parts: Record<string, { part: Part; language?: NonNullable<Block['logic']>['language'] }> = {
  html: { part: 'layout' },
  liquid: { part: 'layout' },
  js: { part: 'logic', language: 'javascript' },
  ts: { part: 'logic', language: 'typescript' },
  py: { part: 'logic', language: 'python' },
  yaml: { part: 'definition' },
  yml: { part: 'definition' },
};

/** Characters of all definitions of an app, at most; those of later blocks, in the order of their ids, are not read. */
const MAX_DEFINITIONS = 512 * 1024;

const TOO_MANY = `The definitions of this app have more than ${MAX_DEFINITIONS / 1024} kB together`;

/** After so many characters of YAML others have their turn: reading them may take some hundredths of a second. */
const STRETCH = 16 * 1024;

const loaded = new WeakMap<AppFolder, Promise<App>>();

/** Warnings about unknown keys of one app, at most. */
const MAX_WARNINGS = 20;

/**
 * The app that a folder holds, read once for each folder object. What is broken in it is in the errors of app and blocks.
 * @param warn called for each unknown key that is ignored
 */
export function loadApp(folder: AppFolder, warn: (message: string) => void = () => undefined): Promise<App> {
  let app = loaded.get(folder);
  if (!app) {
    app = readApp(folder, warn);
    loaded.set(folder, app);
  }
  return app;
}

async function readApp(folder: AppFolder, tell: (message: string) => void): Promise<App> {
  // A broken theme.yaml counts as empty; the panel shows its error.
  const { rapido = false } = attempt(() => (folder.theme ? readThemeInfo(folder.theme) : {})).value ?? {};
  const tolerance = rapido ? { left: MAX_WARNINGS, tell } : undefined;
  const { value: settings, error } = attempt(() => (folder.settings ? readSettings(folder.settings) : emptySettings));
  const blocks = new Map<string, Block>();
  const indexes = new Map<string, { type: IndexType; file: string }>([['id', { type: 'field', file: '' }]]);
  let length = 0;
  let pause = folder.settings?.text.length ?? 0;
  for (const [id, files] of blockFiles(folder)) {
    const own = files.get('definition')?.[0]?.text.length ?? 0;
    length += own;
    pause += own;
    if (pause > STRETCH) {
      await new Promise((resolve) => setImmediate(resolve));
      pause = own;
    }
    const block = readBlock(id, files, length <= MAX_DEFINITIONS, tolerance);
    blocks.set(id, block.error ? block : { ...block, error: declareIndexes(block.definition, indexes) });
  }
  return {
    folder,
    id: folder.appId,
    revision: folder.revision,
    settings: settings ?? { ...emptySettings, debug: saysDebug(folder.settings?.text ?? '') },
    error,
    blocks,
    indexes: new Map([...indexes].map(([name, { type }]) => [name, type])) as IndexDeclarations,
  };
}

/** Whether a broken settings.yaml still turns debug mode on, so that its author sees the error. */
function saysDebug(text: string): boolean {
  return /^debug:[ \t]*true[ \t]*(?:#.*)?\r?$/m.test(text);
}

/** Files of each block by what they are; blocks in the order of their ids, so that "the later block" is always the same. */
function blockFiles(folder: AppFolder): Map<string, Map<Part, ThemeFile[]>> {
  const blocks = new Map<string, Map<Part, ThemeFile[]>>();
  for (const path of [...folder.files.keys()].sort()) {
    const [, id, extension] = /^blocks\/([^/]+)\.([a-z]+)$/.exec(path) ?? [];
    const part = Object.hasOwn(parts, extension ?? '') ? parts[extension as string]?.part : undefined;
    if (!id || !part || !isId(id) || path.endsWith('.d.ts')) continue;
    const files = blocks.get(id) ?? new Map<Part, ThemeFile[]>();
    files.set(part, [...(files.get(part) ?? []), folder.files.get(path) as ThemeFile]);
    blocks.set(id, files);
  }
  return new Map([...blocks].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function readBlock(id: string, files: Map<Part, ThemeFile[]>, fits: boolean, tolerance?: Tolerance): Block {
  const file = (part: Part): ThemeFile | undefined => files.get(part)?.[0];
  const definition = file('definition');
  const { value, error } = attempt(() => {
    for (const [part, found] of files) refuseUnusable(part, found);
    if (!definition) return emptyDefinition;
    if (!fits) throw definitionError(TOO_MANY, { file: definition.path });
    return readDefinition(definition, tolerance);
  });
  const [layout, logic] = [file('layout'), file('logic')];
  // A Liquid layout was not made for Rapido.
  const isRapido = tolerance !== undefined && layout?.path.endsWith('.html');
  return {
    id,
    layout: layout ? { path: layout.path, text: layout.text, ...(isRapido ? { rapido: true } : {}) } : null,
    logic: logic ? { path: logic.path, language: languageOf(logic.path) } : null,
    definition: value ?? emptyDefinition,
    error,
  };
}

function refuseUnusable(part: Part, files: ThemeFile[]): void {
  for (const { path, problem } of files) if (problem) throw definitionError(problem, { file: path });
  const [first, second] = files;
  if (!first || !second) return;
  throw definitionError(`The block has two ${part} files: ${first.path} and ${second.path}`, { file: second.path });
}

function languageOf(path: string): NonNullable<Block['logic']>['language'] {
  return parts[path.slice(path.lastIndexOf('.') + 1)]?.language ?? 'javascript';
}

/** Adds a block's indexes to the app's, all or none; the error of a block that contradicts an earlier one. */
function declareIndexes(
  definition: Definition,
  indexes: Map<string, { type: IndexType; file: string }>,
): Block['error'] {
  const wanted = [...definition.elements.values()].filter((element) => element.indexType !== undefined);
  for (const { name, indexType, position } of wanted) {
    const known = indexes.get(name);
    if (!known || known.type === indexType) continue;
    const elsewhere = known.file === '' ? 'by the plugin' : `in ${known.file}`;
    return definitionError(
      `The index "${name}" is ${known.type} ${elsewhere} and cannot be ${indexType} here`,
      position,
    );
  }
  for (const { name, indexType, position } of wanted) {
    if (!indexes.has(name)) indexes.set(name, { type: indexType as IndexType, file: position.file });
  }
  return null;
}

/** Keeps what is wrong with one file from breaking the others; anything but an AppsError is thrown on. */
function attempt<T>(read: () => T): { value: T | null; error: App['error'] } {
  try {
    return { value: read(), error: null };
  } catch (error) {
    if (isAppsError(error)) return { value: null, error };
    throw error;
  }
}
