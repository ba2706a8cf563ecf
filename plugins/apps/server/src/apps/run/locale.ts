import { localeFor, type PageLocale } from '../locales';
import type { Run } from './types';

/** The locale of a block of a run. */
export function localeOf({ visit, app }: Pick<Run, 'visit' | 'app'>): Promise<PageLocale> {
  return localeFor(visit.site, app.folder.files, app.folder.themeFiles);
}
