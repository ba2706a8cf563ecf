import { excerptOf } from '../../../../shared/positions';
import { type AppsError, errorText, isAppsError } from '../../errors';
import { escapeHtml } from '../elements';
import type { App } from '../types';
import { addNote, failureNote } from './notices';
import { showsDetails } from './run';
import type { AppServices, Run } from './types';

/** HTML instead of a failed part; details only in debug mode, for a manager, and in the log. */
export function errorMark(run: Run, error: AppsError): string {
  const folder = folderOf(run.services, run.app.id);
  const text = `${error.name} ${errorText(error, folder)}`;
  run.failures.push(`${run.app.id}: ${text}`);
  addNote(run, failureNote(run.app.id, error, text));
  return failureMark(error, showsDetails(run), folder) + (run.services.quotesSource ? quoted(run.app, error) : '');
}

/** The mark without a run; only an AppsError is explained. */
export function failureMark(error: unknown, explained: boolean, folder = ''): string {
  const details = explained && isAppsError(error) ? `: ${errorText(error, folder)}` : '';
  return mark(`This part could not be shown${details}`);
}

/** The line of an error, for the author of the app; '' where it is not known. */
function quoted(app: App, { position }: AppsError): string {
  const source = position && sourceOf(app, position.file);
  const excerpt = source === undefined ? null : excerptOf(source, position ?? { file: '' });
  return excerpt === null ? '' : `<code class="apps-excerpt">${escapeHtml(excerpt)}</code>`;
}

/** The mark of a mistake that is no failure; visitors do not see it. */
export function noticeMark(run: Run, text: string): string {
  return showsDetails(run) ? mark(text) : '';
}

/** @param text plain text */
export const mark = (text: string): string => `<span class="apps-error" role="alert">${escapeHtml(text)}</span>`;

/** The app's folder as messages name it: `apps/rating/`. */
export function folderOf({ config }: Pick<AppServices, 'config'>, appId: string): string {
  return `${config.appsFolder}/${appId}/`;
}

/** The text of a file that the position of an app's error may name. */
export function sourceOf({ folder: { files, settings } }: App, file: string): string | undefined {
  return (files.get(file) ?? (settings?.path === file ? settings : undefined))?.text;
}
