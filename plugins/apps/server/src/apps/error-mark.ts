import { type AppsError, isAppsError } from '../errors';
import { escapeHtml } from './elements';
import { addNote, failureNote } from './notices';
import { type AppServices, type Run, showsDetails } from './run';

/** What stands in the place of something that failed; details only in debug mode, for a manager, and in the log. */
export function errorMark(run: Run, error: AppsError): string {
  const folder = folderOf(run.services, run.app.id);
  const text = `${error.name} ${placedMessage(error, folder)}`;
  run.failures.push(`${run.app.id}: ${text}`);
  addNote(run, failureNote(run.app.id, error, text));
  return failureMark(error, showsDetails(run), folder);
}

/** The same where there is no run; what is no AppsError is never explained. */
export function failureMark(error: unknown, explained: boolean, folder = ''): string {
  const details = explained && isAppsError(error) ? `: ${placedMessage(error, folder)}` : '';
  return `<span class="apps-error" role="alert">This part could not be shown${escapeHtml(details)}</span>`;
}

/** The mark of a mistake that fails nothing; visitors do not see it. */
export function noticeMark(run: Run, text: string): string {
  return showsDetails(run) ? `<span class="apps-error" role="alert">${escapeHtml(text)}</span>` : '';
}

/**
 * An error's message with its reason and its position, unless the message names the position already.
 * @param folder of the app, with a slash at its end: paths of positions are relative to it
 */
export function placedMessage({ message, position, reason }: AppsError, folder = ''): string {
  const whole = reason === undefined ? message : `${message}. ${reason}`;
  if (!position) return whole;
  const { file, line } = position;
  if (file !== '' && whole.includes(file)) return whole.replace(file, () => folder + file);
  return `${folder}${line === undefined ? file : `${file}:${line}`}: ${whole}`;
}

/** The app's folder as messages name it: `apps/rating/`. */
export function folderOf({ config }: Pick<AppServices, 'config'>, appId: string): string {
  return `${config.appsFolder}/${appId}/`;
}
