import { type AppsError, isAppsError } from '../errors';
import { escapeHtml } from './elements';
import { type Run, showsDetails } from './run';

/** What stands in the place of something that failed; details only in debug mode, for a manager, and in the log. */
export function errorMark(run: Run, error: AppsError): string {
  run.failures.push(`${run.app.id}: ${error.name} ${placedMessage(error)}`);
  return failureMark(error, showsDetails(run));
}

/** The same where there is no run; what is no AppsError is never explained. */
export function failureMark(error: unknown, explained: boolean): string {
  const details = explained && isAppsError(error) ? `: ${placedMessage(error)}` : '';
  return `<span class="apps-error" role="alert">This part could not be shown${escapeHtml(details)}</span>`;
}

/** An error's message with its reason and the place that it is about; most messages name theirs already. */
export function placedMessage({ message, position, reason }: AppsError): string {
  if (reason !== undefined) return `${message}. ${reason}`;
  if (!position || message.includes(position.file)) return message;
  const { file, line } = position;
  return `${line === undefined ? file : `${file}:${line}`}: ${message}`;
}
