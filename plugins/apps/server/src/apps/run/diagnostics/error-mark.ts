import { excerptOf } from '../../../../../shared/positions';
import { type AppsError, errorText, isAppsError } from '../../../common/errors';
import { escapeHtml } from '../../elements';
import type { PageLocale } from '../../locales';
import type { App } from '../../types';
import { localeOf } from '../locale';
import type { AppServices, Run } from '../types';
import { showsDetails } from './details';
import { addNote, failureNote } from './notices';

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
