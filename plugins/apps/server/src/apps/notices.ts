import { isAppsError } from '../errors';
import type { Logger } from '../log';
import type { LogEntry } from '../logic/types';
import { escapeHtml } from './elements';
import { folderOf } from './error-mark';
import { type Run, showsDetails } from './run';
import type { Block } from './types';

/** What the server's log was told; the bound only keeps years of edits from adding up. */
const told = new Set<string>();
const MAX_TOLD = 5_000;

/** Lines for one page's console, at most. */
const MAX_NOTES = 100;

/** Characters of a line. */
const MAX_LINE = 2_000;

/**
 * Tells the server's log once: the same text about the same revision is not repeated with every request.
 * @param about what stands for the text, where that says more than is to be told once
 */
export function warnOnce(logger: Logger, revision: string, text: string, about = text): void {
  const line = `[apps] ${text.slice(0, MAX_LINE)}`;
  const key = `${revision} ${about.slice(0, MAX_LINE)}`;
  if (told.has(key)) return;
  if (told.size >= MAX_TOLD) told.clear();
  told.add(key);
  logger.warn(line);
}

/**
 * Something in a block is wrong that fails nothing: a line of the server's log, once for each revision of the app, and of
 * the console of those to whom details are shown.
 */
export function notice(run: Run, block: Block, message: string, place?: { file: string; line?: number }): void {
  const { app, services } = run;
  const at = place
    ? ` (${folderOf(services, app.id)}${place.file}${place.line === undefined ? '' : `:${place.line}`})`
    : '';
  const { site, themeId } = app.folder;
  warnOnce(
    services.logger,
    `${site.id}/${themeId}/${app.id}@${app.revision}`,
    `${app.id}/${block.id}: ${message}${at}`,
  );
  addNote(run, { app: app.id, block: block.id, line: place?.line ?? null, message: `${message}${at}` });
}

/** A line for the console of those to whom details are shown. */
export function addNote(run: Run, entry: LogEntry): void {
  const { notes } = run;
  if (notes.length < MAX_NOTES) notes.push({ ...entry, message: entry.message.slice(0, MAX_LINE) });
}

/** What the visitor's console shows of a run: what a debugged app has logged, and what is wrong with it. */
export function consoleOf(run: Run): LogEntry[] {
  return showsDetails(run) ? [...run.visit.pendingLog, ...run.logs, ...run.notes] : [];
}

/** Lines for the console as HTML that shows nothing: the browser script finds them in it. */
export function consoleHtml(log: readonly LogEntry[]): string {
  return log.length === 0 ? '' : `<template data-apps-log="${escapeHtml(JSON.stringify(log))}"></template>`;
}

/** The line for a failure that leaves a mark in its place. */
export function failureNote(app: string, error: unknown, text: string): LogEntry {
  const position = isAppsError(error) ? error.position : undefined;
  return { app, block: null, line: position?.line ?? null, message: text };
}
