import { LRUCache } from 'lru-cache';
import { excerptOf, positioned } from '../../../../../shared/positions';
import { type AppsError, errorText, isAppsError, type SourcePosition } from '../../../common/errors';
import type { Logger } from '../../../common/log';
import { PausedError } from '../../../logic';
import type { LogEntry } from '../../../logic/types';
import { escapeHtml } from '../../elements';
import type { PageLocale } from '../../locales';
import type { App, Block } from '../../types';
import type { AppServices, Run } from '../types';
import { localeOf } from '../visits';

/** Whether error details may be shown: in debug mode, or to a manager (docs/errors.md#messages). */
export function showsDetails(run: Pick<Run, 'app' | 'rights'>): boolean {
  return run.app.settings.debug || run.rights.manager;
}

/** A failure of a block's logic or layout. */
interface Failure {
  message: string;
  file: string;
  line: number | null;
  column: number | null;
  /** ISO 8601: the last time. */
  at: string;
  /** How often it occurred while it is remembered. */
  times: number;
}

/** Maximum remembered failures of a block. */
const MAX_FAILURES = 10;
/** Maximum characters of a message. */
const MAX_MESSAGE = 1_000;
/** Milliseconds after which a failure is forgotten. */
const MAX_AGE = 24 * 60 * 60 * 1000;

/** A block object is one revision of its files in one site: another revision starts without failures. */
const remembered = new WeakMap<Block, Failure[]>();

/** Errors that are already remembered: callers catch them again. */
const noted = new WeakSet<object>();

const names = ['LogicError', 'LogicTimeoutError', 'DefinitionError'] as const;

const isOwn = (error: unknown): error is AppsError =>
  names.some((name) => isAppsError(error, name)) && !(error instanceof PausedError);

/**
 * Remembers an error of the block's own logic or layout for those who manage apps; ignores any other error.
 * @param masked makes a text one that may be kept
 */
export function noteFailure(block: Block, error: unknown, masked: (text: string) => string): void {
  if (!isOwn(error) || noted.has(error)) return;
  noted.add(error);
  const { file = block.logic?.path ?? '', line = null, column = null } = error.position ?? {};
  const message = masked(error.message).slice(0, MAX_MESSAGE);
  const failures = remembered.get(block) ?? [];
  const known = failures.find((one) => one.message === message && one.file === file && one.line === line);
  const latest = { message, file, line, column, at: new Date().toISOString(), times: (known?.times ?? 0) + 1 };
  remembered.set(block, [latest, ...failures.filter((one) => one !== known)].slice(0, MAX_FAILURES));
}

/** Failures of the block in the last day, the latest first; in this server process, since its files changed. */
export function failuresOf(block: Block): readonly Failure[] {
  const since = new Date(Date.now() - MAX_AGE).toISOString();
  return (remembered.get(block) ?? []).filter(({ at }) => at > since);
}

/** Keys of logged warnings; bounded, to limit their memory. */
const warned = new LRUCache<string, true>({ max: 5_000 });

/** Maximum console entries of one page. */
const MAX_NOTES = 100;

/** Maximum characters of a line. */
const MAX_LINE = 2_000;

/**
 * Logs a warning once: the same text about the same revision is not repeated with every request.
 * @param about identifies the warning instead of its text, where the text differs between requests
 */
export function warnOnce(logger: Logger, revision: string, text: string, about = text): void {
  const line = `[apps] ${text.slice(0, MAX_LINE)}`;
  const key = `${revision} ${about.slice(0, MAX_LINE)}`;
  if (warned.has(key)) return;
  warned.set(key, true);
  logger.warn(line);
}

/** Logs a warning once for each revision of an app. */
export function warnOfApp(logger: Logger, { id, revision, folder }: App, text: string): void {
  warnOnce(logger, `${folder.site.id}/${folder.themeId}/${id}@${revision}`, text);
}

/**
 * Reports a mistake in a block that is no failure: in the server's log once for each revision of the app, and in the
 * console of requesters who see details.
 */
export function notice(run: Run, block: Block, message: string, position?: SourcePosition): void {
  const { app, services } = run;
  const text = positioned(message, position, folderOf(services, app.id));
  warnOfApp(services.logger, app, `${app.id}/${block.id}: ${text}`);
  addNote(run, { app: app.id, block: block.id, line: position?.line ?? null, message: text });
}

/** Adds a console entry for requesters who see details. */
export function addNote(run: Run, entry: LogEntry): void {
  const { notes } = run;
  if (notes.length < MAX_NOTES) notes.push({ ...entry, message: entry.message.slice(0, MAX_LINE) });
}

/** The console entries of a run, with the log of an app in debug mode; none for requesters who see no details. */
export function consoleOf(run: Run): LogEntry[] {
  return showsDetails(run) ? [...run.visit.pendingLog, ...run.logs, ...run.notes] : [];
}

/** Console entries as an HTML template, which shows nothing: the browser script reads them from it. */
export function consoleHtml(log: readonly LogEntry[]): string {
  return log.length === 0 ? '' : `<template data-apps-log="${escapeHtml(JSON.stringify(log))}"></template>`;
}

/** The console entry for a failure that is shown as an error mark. */
function failureNote(app: string, error: unknown, text: string): LogEntry {
  const position = isAppsError(error) ? error.position : undefined;
  return { app, block: null, line: position?.line ?? null, message: text };
}

/** HTML instead of a failed part; details only in debug mode, for a manager, and in the log. */
export async function errorMark(run: Run, error: AppsError): Promise<string> {
  const folder = folderOf(run.services, run.app.id);
  const text = `${error.name} ${errorText(error, folder)}`;
  run.failures.push(`${run.app.id}: ${text}`);
  addNote(run, failureNote(run.app.id, error, text));
  const source = run.services.quotesSource ? quoted(run.app, error) : '';
  return failureMark(await localeOf(run), error, showsDetails(run), folder) + source;
}

/** The mark without a run; only an AppsError is explained. */
export function failureMark(locale: PageLocale, error: unknown, explained: boolean, folder = ''): string {
  if (!explained || !isAppsError(error)) return mark(escapeHtml(locale.say('part_failed')));
  // The reason is HTML in the middle of the message.
  const text = escapeHtml(locale.say('part_failed_reason', { reason: '\0' }));
  return mark(text.replace('\0', () => englishHtml(locale, errorText(error, folder))));
}

/** The line of an error, for the author of the app; '' where it is not known. */
function quoted(app: App, { position }: AppsError): string {
  const source = position && sourceOf(app, position.file);
  const excerpt = source === undefined ? null : excerptOf(source, position ?? { file: '' });
  return excerpt === null ? '' : `<code class="apps-excerpt">${escapeHtml(excerpt)}</code>`;
}

/** The mark of a mistake that is no failure, in English; visitors do not see it. */
export function noticeMark(run: Run, locale: PageLocale, text: string): string {
  return showsDetails(run) ? englishMark(locale, text) : '';
}

/** A mark of a text for those who make the site. @param text plain text, in English */
export const englishMark = (locale: PageLocale, text: string): string => mark(englishHtml(locale, text));

const mark = (html: string): string => `<span class="apps-error" role="alert">${html}</span>`;

/** An English text as HTML, with its language where it stands among another one (docs/reference/languages.md#texts-for-developers). */
function englishHtml({ language }: PageLocale, text: string): string {
  return language === 'en' ? escapeHtml(text) : `<span lang="en">${escapeHtml(text)}</span>`;
}

/** The app's folder as messages name it: `apps/rating/`. */
export function folderOf({ config }: Pick<AppServices, 'config'>, appId: string): string {
  return `${config.appsFolder}/${appId}/`;
}

/** The text of a file that the position of an app's error may name. */
export function sourceOf({ folder: { files, settings } }: App, file: string): string | undefined {
  return (files.get(file) ?? (settings?.path === file ? settings : undefined))?.text;
}
