import { LRUCache } from 'lru-cache';
import { positioned } from '../../../../../shared/positions';
import { isAppsError, type SourcePosition } from '../../../common/errors';
import type { Logger } from '../../../common/log';
import type { LogEntry } from '../../../logic/types';
import { escapeHtml } from '../../elements';
import type { App, Block } from '../../types';
import type { Run } from '../types';
import { showsDetails } from './details';
import { folderOf } from './error-mark';

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
export function failureNote(app: string, error: unknown, text: string): LogEntry {
  const position = isAppsError(error) ? error.position : undefined;
  return { app, block: null, line: position?.line ?? null, message: text };
}
