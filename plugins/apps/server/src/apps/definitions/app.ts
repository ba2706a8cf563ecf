import { z } from 'zod';
import type { Items, Json } from '../../../../shared/json';
import { memoized } from '../../common/collections';
import { attempt, definitionError } from '../../common/errors';
import type { Awaitable } from '../../common/time/awaitable';
import { MAX_FIELD_INDEXES } from '../../indexes';
import type { IndexDeclarations, IndexType } from '../../indexes/types';
import type { LayoutSource } from '../../layouts/types';
import { isId } from '../../sites';
import type { AppFolder, ThemeFile } from '../../sites/types';
import type { App, Block, Definition, Settings } from '../types';
import { readYaml, type Tolerance } from '../yaml';
import { caption, check, flag, isMapping, mapping } from '../yaml-schema';
import { notifyProblem, webhookProblem } from './automation';
import { emptyDefinition, readDefinition } from './definition';
import { receiptProblem, STATE_ITEM } from './records';
import { emptySettings, readSettings, translated } from './settings';

/**
 * Links to the pages of a list: `{% render "paging", total: 120, size: 20 %}`
 * (docs/reference/layouts.md#pages-of-a-list). A theme or app may replace it by a file of its own.
 */
const paging = `{%- assign name = param | default: "page" -%}
{%- assign now = page | default: context.request.query[name] | default: 1 | plus: 0 -%}
{%- assign pages = total | divided_by: size | ceil -%}
{%- if pages > 1 -%}
<nav class="apps-paging" aria-label="{{ 'apps.paging' | t }}">
{%- if now > 1 %}{% assign before = now | minus: 1 %}<a rel="prev" href="{{ context.request.url | with_query: name, before }}">{{ 'apps.previous' | t }}</a> {% endif -%}
<span aria-current="page">{{ 'apps.page_of' | t: page: now, pages: pages }}</span>
{%- if now < pages %}{% assign after = now | plus: 1 %} <a rel="next" href="{{ context.request.url | with_query: name, after }}">{{ 'apps.next' | t }}</a>{% endif -%}
</nav>
{%- endif -%}`;

const builtIn: readonly (readonly [string, LayoutSource])[] = [
  ['paging', { path: 'partials/paging.html', text: paging }],
];

/** The partials in the given files, the first of which win, and the plugin's own. */
function partialsIn(...all: readonly ReadonlyMap<string, ThemeFile>[]): ReadonlyMap<string, LayoutSource> {
  const own = [...all].reverse().flatMap((files) =>
    [...files.values()].flatMap((file) => {
      const name = /^partials\/([^/]+)\.(?:html|liquid)$/.exec(file.path)?.[1];
      return name === undefined ? [] : [[name, { path: file.path, text: file.text, problem: file.problem }] as const];
    }),
  );
  return new Map([...builtIn, ...own]);
}

/** The partials that the layouts of an app can render: its own, then those of its theme. */
function partialsOf({ files, themeFiles }: AppFolder): ReadonlyMap<string, LayoutSource> {
  return partialsIn(files, themeFiles);
}

const sources = new WeakMap<ThemeFile, LayoutSource>();

/** A file of a theme with the theme's partials: one object for a file, because layouts are compiled once for each. */
export function themeSource(file: ThemeFile, files: ReadonlyMap<string, ThemeFile>): LayoutSource {
  const { path, text } = file;
  const source = sources.get(file) ?? { path, text, partials: partialsIn(files) };
  sources.set(file, source);
  return source;
}

/**
 * The options of an app (docs/reference/theme.md#options): those of its settings.yaml, and what an administrator has set for
 * the site instead. Mappings are merged key by key; any other value, null and lists too, replaces the file's.
 */
function mergedOptions(file: Items, override: Items): Items {
  const entries = Object.entries(override).map(([key, value]): [string, Json] => {
    const given = Object.hasOwn(file, key) ? (file[key] as Json) : null;
    return [key, isMapping(value) && isMapping(given) ? mergedOptions(given, value) : value];
  });
  return Object.fromEntries([...Object.entries(file), ...entries]);
}

const notSeconds = { error: 'This must be a whole number of seconds from 1 to 86400' };

/** Keys of theme.yaml (docs/reference/theme.md). */
export const themeFile = mapping({
  title: caption,
  description: caption,
  rapido: flag,
  s_maxage: check<number>(z.int(notSeconds).min(1, notSeconds).max(86_400, notSeconds)),
});

/**
 * Content of theme.yaml. `rapido`: the apps were made for Rapido (docs/coming-from-rapido.md); `s_maxage`: seconds for which a proxy may
 * keep pages of the site.
 */
interface ThemeInfo {
  title?: string;
  description?: string;
  rapido?: boolean;
  s_maxage?: number;
}

/**
 * Reads a theme's theme.yaml (docs/reference/theme.md#themeyaml): all keys are optional. DefinitionError for a
 * broken file.
 */
export function readThemeInfo(file: ThemeFile): ThemeInfo {
  const root = readYaml(file);
  return root.value === null ? {} : themeFile(root);
}

type Part = 'layout' | 'logic' | 'definition';

/** The part of a block that a file holds, by its extension (docs/reference/theme.md#files-of-a-block). */
const parts: Record<string, { part: Part; language?: NonNullable<Block['logic']>['language'] }> = {
  html: { part: 'layout' },
  liquid: { part: 'layout' },
  js: { part: 'logic', language: 'javascript' },
  ts: { part: 'logic', language: 'typescript' },
  py: { part: 'logic', language: 'python' },
  yaml: { part: 'definition' },
  yml: { part: 'definition' },
};

/** Maximum characters of all definitions of an app; further ones, in the order of block ids, are not read. */
export const MAX_DEFINITIONS = 512 * 1024;

const TOO_MANY = `The definitions of this app have more than ${MAX_DEFINITIONS / 1024} kB together`;

/** Characters of YAML between two yields to the event loop: reading them may take some hundredths of a second. */
const YIELD_INTERVAL = 16 * 1024;

const loaded = new WeakMap<AppFolder, Awaitable<App>>();

/** Maximum warnings about unknown keys of one app. */
const MAX_WARNINGS = 20;

/**
 * The app of a folder, read once for each folder object. Its mistakes are in `error` of the app and of its blocks.
 * @param warn called for each unknown key that is ignored
 */
export function loadApp(folder: AppFolder, warn: (message: string) => void = () => undefined): Awaitable<App> {
  const known = loaded.get(folder);
  if (known) return known;
  const app = readApp(folder, warn).then((read) => {
    loaded.set(folder, read);
    return read;
  });
  loaded.set(folder, app);
  return app;
}

/** The same app with `debug: true`, whatever its settings.yaml says; the same object for the same app. */
export const inDebugMode = memoized(
  (app: App): App => (app.settings.debug ? app : { ...app, settings: { ...app.settings, debug: true } }),
);

async function readApp(folder: AppFolder, warn: (message: string) => void): Promise<App> {
  // A broken theme.yaml counts as empty; the panel shows its error.
  const { rapido = false } = attempt(() => (folder.theme ? readThemeInfo(folder.theme) : {})).value ?? {};
  const tolerance = rapido ? { left: MAX_WARNINGS, warn } : undefined;
  const { value: settings, error } = attempt(() => (folder.settings ? readSettings(folder.settings) : emptySettings));
  const blocks = new Map<string, Block>();
  const indexes = new Map<string, { type: IndexType; file: string }>([['id', { type: 'field', file: '' }]]);
  let length = 0;
  let schedules = 0;
  let sinceYield = folder.settings?.text.length ?? 0;
  const partials = partialsOf(folder);
  for (const path of folder.files.keys()) warnOfName(path, warn);
  for (const [id, files] of blockFiles(folder)) {
    const own = files.get('definition')?.[0]?.text.length ?? 0;
    length += own;
    sinceYield += own;
    if (sinceYield > YIELD_INTERVAL) {
      await new Promise((resolve) => setImmediate(resolve));
      sinceYield = own;
    }
    const block = readBlock(id, files, { fits: length <= MAX_DEFINITIONS, tolerance, partials });
    schedules += block.definition.schedules.length;
    const error = block.error ?? tooMany(block.definition, schedules) ?? declareIndexes(block.definition, indexes);
    blocks.set(id, error === block.error ? block : { ...block, error });
  }
  const merged = withOptions(settings ?? { ...emptySettings, debug: saysDebug(folder.settings?.text ?? '') }, folder);
  for (const [id, block] of blocks) {
    const { notify, states, receipt } = block.definition;
    const mails = [notify, ...[...(states?.all.values() ?? [])].map((state) => state.notify)];
    const found =
      block.error || error
        ? []
        : [receiptProblem(receipt, blocks), ...mails.map((mail) => notifyProblem(mail, merged, blocks))];
    const problem = found.find((one) => one !== null);
    if (problem) blocks.set(id, { ...block, error: problem });
  }
  const declared = new Map([...indexes].map(([name, { type }]) => [name, type])) as IndexDeclarations;
  return translated({
    folder,
    id: folder.appId,
    revision: folder.revision,
    settings: merged,
    error: error ?? webhookProblem(merged, blocks, declared),
    blocks,
    indexes: declared,
    confirms: [...blocks.values()].some(
      ({ definition, error }) => error !== null || definition.receipt?.confirm === true,
    ),
  });
}

/** The settings with the options that an administrator has set. */
function withOptions(settings: Settings, { options }: AppFolder): Settings {
  return options ? { ...settings, options: mergedOptions(settings.options, JSON.parse(options) as Items) } : settings;
}

/** Whether a broken settings.yaml still turns debug mode on, so that its author sees the error. */
function saysDebug(text: string): boolean {
  return /^debug:[ \t]*true[ \t]*(?:#.*)?\r?$/m.test(text);
}

/** Endings that are easily taken for those of a block's files. */
const wrongEndings = new Set(['htm', 'xhtml', 'mjs', 'cjs', 'jsx', 'tsx', 'json']);

/** Warns of a file in `blocks/` that belongs to no block because of its name. */
function warnOfName(path: string, warn: (message: string) => void): void {
  const [, id = '', extension = ''] = /^blocks\/([^/]+)\.([a-z]+)$/.exec(path) ?? [];
  if (wrongEndings.has(extension))
    warn(
      `${path} is no file of a block: its ending must be one of ${Object.keys(parts)
        .map((one) => `.${one}`)
        .join(', ')}`,
    );
  else if (Object.hasOwn(parts, extension) && !isId(id) && !id.endsWith('.d'))
    warn(`${path} is no file of a block: its name may have letters, digits, "_", "-" and "." only`);
}

/** Files of each block by part. Blocks are sorted by id, so that "the later block" is always the same. */
function blockFiles(folder: AppFolder): Map<string, Map<Part, ThemeFile[]>> {
  const blocks = new Map<string, Map<Part, ThemeFile[]>>();
  for (const [path, file] of [...folder.files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const [, id, extension] = /^blocks\/([^/]+)\.([a-z]+)$/.exec(path) ?? [];
    const part = Object.hasOwn(parts, extension ?? '') ? parts[extension ?? '']?.part : undefined;
    if (!id || !part || !isId(id) || path.endsWith('.d.ts')) continue;
    const files = blocks.get(id) ?? new Map<Part, ThemeFile[]>();
    files.set(part, [...(files.get(part) ?? []), file]);
    blocks.set(id, files);
  }
  return new Map([...blocks].sort(([a], [b]) => (a < b ? -1 : 1)));
}

interface BlockSurroundings {
  /** Whether the definitions so far are within their limit. */
  fits: boolean;
  tolerance: Tolerance | undefined;
  partials: ReadonlyMap<string, LayoutSource>;
}

function readBlock(id: string, files: Map<Part, ThemeFile[]>, surroundings: BlockSurroundings): Block {
  const { fits, tolerance, partials } = surroundings;
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
    layout: layout ? { path: layout.path, text: layout.text, partials, ...(isRapido ? { rapido: true } : {}) } : null,
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

/** Maximum schedules of an app; further ones, in the order of block ids, break their block. */
const MAX_SCHEDULES = 100;

/** @param count schedules of this block and of those before it */
function tooMany({ schedules: [first] }: Definition, count: number): Block['error'] {
  if (!first || count <= MAX_SCHEDULES) return null;
  return definitionError(`The blocks of an app have at most ${MAX_SCHEDULES} schedules together`, first.position);
}

/** Adds a block's indexes to the app's, all or none; returns the error of a block that contradicts earlier ones, or has too many. */
function declareIndexes(
  definition: Definition,
  indexes: Map<string, { type: IndexType; file: string }>,
): Block['error'] {
  const { elements, states } = definition;
  const [first] = states?.all.values() ?? [];
  const ofState = first ? [{ name: STATE_ITEM, indexType: 'keyword' as const, position: first.position }] : [];
  const wanted = [...[...elements.values()].filter(({ indexType }) => indexType !== undefined), ...ofState];
  for (const { name, indexType, position } of wanted) {
    const known = indexes.get(name);
    if (!known || known.type === indexType) continue;
    const elsewhere = known.file === '' ? 'by the plugin' : `in ${known.file}`;
    return definitionError(
      `The index "${name}" is ${known.type} ${elsewhere} and cannot be ${indexType} here`,
      position,
    );
  }
  const added = wanted.filter(({ name }) => !indexes.has(name));
  // `id` is one that no block declares.
  const left = MAX_FIELD_INDEXES + 1 - [...indexes.values()].filter(({ type }) => type === 'field').length;
  const beyond = added.filter(({ indexType }) => indexType === 'field')[left];
  if (beyond)
    return definitionError(
      `The blocks of an app have at most ${MAX_FIELD_INDEXES} indexes of the type field together`,
      beyond.position,
    );
  for (const { name, indexType, position } of added)
    indexes.set(name, { type: indexType as IndexType, file: position.file });
  return null;
}
