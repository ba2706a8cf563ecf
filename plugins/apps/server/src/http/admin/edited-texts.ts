import { z } from 'zod';
import {
  type App,
  checkApp,
  type LintProblem,
  type LintServices,
  located,
  programOf,
  sorted,
  sourceOf,
} from '../../apps';
import { AppsError, isAppsError, missing, notFound } from '../../common/errors';
import { must } from '../../common/validation';
import { emptyContext, noHost } from '../../logic';
import { checkText, isEditablePath } from '../../sites';
import type { AppFolder, Site } from '../../sites/types';
import type { HttpServices, Overlay } from '../request/exchange';
import { overlayLimits as MAX } from '../request/negotiate';

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

/**
 * The problems of an app as the command line's `lint` finds them.
 * @param deadline in `performance.now()` milliseconds: logic that was not loaded by then is checked without its functions
 */
export async function lintProblems(
  { layouts, logic, config, outbound }: Pick<HttpServices, 'layouts' | 'logic' | 'config' | 'outbound'>,
  app: App,
  deadline = Number.POSITIVE_INFINITY,
): Promise<LintProblem[]> {
  const found: LintProblem[] = [];
  const services: LintServices = {
    layouts,
    warningsOf: () => [],
    imagePixels: config.limits.imagePixels,
    outbound,
    async usesOf(checked, block, functions) {
      if (!block.logic || performance.now() > deadline) return { mistakes: [], searches: [] };
      return logic.uses(programOf(checked, block.logic), functions);
    },
    async functionsOf(checked, block) {
      if (!block.logic) return new Set();
      if (performance.now() > deadline) return null;
      try {
        const session = await logic.open(programOf(checked, block.logic), emptyContext, noHost, logic.budget());
        session.close();
        return session.functions;
      } catch (error) {
        if (isAppsError(error, 'ServiceUnavailableError')) return null;
        throw error;
      }
    },
  };
  const linted = { theme: app.folder.themeId, app: app.id, prefix: '', source: (file: string) => sourceOf(app, file) };
  await checkApp(services, app, (finding) => void found.push(located(finding, linted)));
  return sorted(found);
}
