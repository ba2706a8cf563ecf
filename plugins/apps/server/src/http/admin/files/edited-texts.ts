import { z } from 'zod';
import { AppsError, missing, notFound } from '../../../common/errors';
import { must } from '../../../common/request-schema';
import { checkText, isEditablePath } from '../../../sites';
import type { AppFolder, Site } from '../../../sites/types';
import type { HttpServices, Overlay } from '../../request/exchange';
import { overlayLimits as MAX } from '../../request/negotiate';

/** Texts of an editor that are not saved, by the paths of the app's files. */
export const texts = z
  .record(z.string(), z.string(must('a text')), must('an object of texts by path'))
  .default({})
  .refine((files) => Object.keys(files).length <= MAX.files, must(`at most ${MAX.files} texts`))
  .refine(
    (files) => Object.values(files).reduce((sum, one) => sum + one.length, 0) <= MAX.characters,
    must(`at most ${MAX.characters} characters together`),
  )
  .refine((files) => Object.keys(files).every(isEditablePath), must('texts by paths of an app'));

/** Why no file can be changed in this server; null where they can. */
export function lockOf({ config, production }: HttpServices): string | null {
  if (config.editing ?? !production) return null;
  return 'Editing is switched off: `editing` in the configuration of the plugin';
}

/** ForbiddenError where editing is switched off. */
export function requireEditing(services: HttpServices): void {
  const lock = lockOf(services);
  if (lock !== null) throw new AppsError('ForbiddenError', lock);
}

/**
 * The app's folder, and the overlay with texts that are not saved. They may run only where they could be saved: ForbiddenError
 * where editing is switched off, and for an app of another theme. NotFoundError for an unknown app.
 */
export async function editedApp(
  services: HttpServices,
  site: Site,
  app: string,
  files: Record<string, string>,
): Promise<{ folder: AppFolder; overlay: Overlay }> {
  const isEdited = Object.keys(files).length > 0;
  if (isEdited) requireEditing(services);
  const folder = await services.sites.app(site, app);
  if (!folder) throw notFound(missing.app(app, site.id));
  if (isEdited && folder.themeId !== site.theme)
    throw new AppsError('ForbiddenError', `This app belongs to the theme "${folder.themeId}"`);
  for (const text of Object.values(files)) checkText(text);
  return { folder, overlay: isEdited ? { files: { site: site.id, app, texts: new Map(Object.entries(files)) } } : {} };
}
