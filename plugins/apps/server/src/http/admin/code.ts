import { rm } from 'node:fs/promises';
import type { Context } from 'koa';
import { z } from 'zod';
import {
  type CodeFile,
  type CodeFiles,
  type CodeHints,
  type CodeProblem,
  type codeRoutes,
  logicLanguages,
  type Preview,
} from '../../../../shared/admin-api';
import { appFiles, appTemplates, blockFiles } from '../../app-templates';
import {
  type App,
  checkApp,
  type LintProblem,
  type LintServices,
  loadApp,
  located,
  newDryRun,
  programOf,
  sorted,
  sourceOf,
} from '../../apps';
import { AppsError, isAppsError, missing, notFound } from '../../common/errors';
import { must, readParameters, validateBody } from '../../common/validation';
import { contextMembers, emptyContext, noHost } from '../../logic';
import { schemaWords } from '../../package-files';
import { checkText, isEditablePath, withFiles } from '../../sites';
import type { AppFolder, Site } from '../../sites/types';
import { jsonObject } from '../request/body';
import type { HttpServices, Overlay } from '../request/exchange';
import { overlayLimits as MAX } from '../request/negotiate';
import { actorOf, audited, previewedAs, requireSavedSettings } from './acting';
import { administratorOf, type Handlers, pathBelow, siteOf } from './handler';

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

const text = z.string(must('a text'));

const checkBody = z.object({ files: texts });
const previewBody = z.object({
  block: text.max(200, must('the id of a block')),
  who: text.max(300, must('a requester')),
  content: text.max(500, must('a path of at most 500 characters')).default(''),
  files: texts,
});

/** What the admin routes that run unsaved texts answer (shared/admin/code.ts). */
const checkHandlers = {
  async checkFiles(ctx: Context, services: HttpServices): Promise<{ problems: CodeProblem[] }> {
    const { files } = validateBody(checkBody, jsonObject(ctx));
    const app = await overlaidApp(services, await siteOf(ctx, services), String(ctx.params.app), files);
    const problems = await lintProblems(services, app);
    return { problems: problems.map(({ theme: _theme, app: _app, ...problem }) => problem) };
  },

  async preview(ctx: Context, services: HttpServices): Promise<Preview> {
    const { block, who, content, files } = validateBody(previewBody, jsonObject(ctx));
    const site = await siteOf(ctx, services);
    const { folder, overlay } = await editedApp(services, site, String(ctx.params.app), files);
    const isEdited = Object.keys(files).length > 0;
    const actor = await actorOf(ctx, services);
    const show = async (): Promise<Preview> => {
      requireSavedSettings(actor, files);
      const requester = await previewedAs(services, actor, who);
      const base = new URL(services.baseUrl());
      const address = new URL(services.sites.urls.block(site, folder.appId, block, content.replace(/^\/+|\/+$/g, '')));
      // What is saved shows an anonymous visitor nothing that they do not get from the site.
      const dry = newDryRun({ isGuarded: isEdited && !actor.seesRecords });
      const answer = await services.inject({
        method: 'GET',
        path: pathBelow(base, address.pathname),
        headers: { accept: 'text/html', host: base.host },
        requester,
        dry,
        overlay,
      });
      return { status: answer.status, html: answer.text, redirect: answer.location };
    };
    // The page of saved texts that every visitor gets.
    if (who === 'anonymous' && !isEdited) return show();
    const acted = { action: 'preview', site: site.id, app: folder.appId, block, requester: who, files } as const;
    return audited(services, actor, acted, show, ({ status }) => status);
  },
};

/** The app with unsaved texts. */
async function overlaidApp(
  services: HttpServices,
  site: Site,
  app: string,
  files: Record<string, string>,
): Promise<App> {
  const { folder, overlay } = await editedApp(services, site, app, files);
  return loadApp(withFiles(folder, overlay.files?.texts ?? new Map()));
}

const revision = text.max(100, must('the revision of a file'));
const fileBody = z.object({ path: text, text, revision: revision.nullable() });
const renameBody = z.object({ path: text, to: text, revision });
const blockBody = z.object({
  block: text.regex(/^[A-Za-z0-9_-]{1,80}$/, must("an id: letters, digits, '_' and '-'")),
  language: z.enum(logicLanguages, must(`one of ${logicLanguages.join(', ')}`)),
});
const appBody = z.object({ app: text.max(80, must('an id of at most 80 characters')), template: text.nullable() });
const pathParameter = z.object({ path: text });
const deleteParameters = z.object({ path: text, revision });

/** What the admin routes of an app's files answer (shared/admin/code.ts). */
export const codeHandlers: Handlers<typeof codeRoutes> = {
  async files(ctx, services): Promise<CodeFiles> {
    const site = await siteOf(ctx, services);
    const app = await services.sites.app(site, appId(ctx));
    if (!app) throw notFound('There is no such app');
    const linked = app.themeId === site.theme ? null : `This app belongs to the theme "${app.themeId}"`;
    const editor = await services.sites.editor.app(app.themeId, app.appId);
    return { locked: lockOf(services) ?? linked, files: await editor.list() };
  },

  async file(ctx, services): Promise<CodeFile> {
    const site = await siteOf(ctx, services);
    const app = await services.sites.app(site, appId(ctx));
    if (!app) throw notFound('There is no such app');
    const { path } = readParameters(pathParameter, ctx.query);
    return (await services.sites.editor.app(app.themeId, app.appId)).read(path);
  },

  async writeFile(ctx, services): Promise<CodeFile> {
    const { editor, keep } = await changing(ctx, services);
    const { path, text, revision } = validateBody(fileBody, jsonObject(ctx));
    const before = await editor.write({ path, text }, revision);
    if (before && before.text !== text) await keep(path, before.text);
    return editor.read(path);
  },

  async renameFile(ctx, services): Promise<CodeFile> {
    const { editor, keep } = await changing(ctx, services);
    const { path, to, revision } = validateBody(renameBody, jsonObject(ctx));
    const file = await editor.rename(path, to, revision);
    await keep(path, file.text);
    return file;
  },

  async deleteFile(ctx, services): Promise<{ success: 'deleted' }> {
    const { editor, keep } = await changing(ctx, services);
    const { path, revision } = readParameters(deleteParameters, ctx.query);
    const file = await editor.delete(path, revision);
    await keep(path, file.text);
    return { success: 'deleted' };
  },

  async fileVersions(ctx, services) {
    const { theme } = await siteOf(ctx, services);
    const { path } = readParameters(pathParameter, ctx.query);
    return services.versions.list({ theme, app: appId(ctx), path });
  },

  async fileVersion(ctx, services): Promise<{ text: string }> {
    const { theme } = await siteOf(ctx, services);
    const id = String(ctx.params.version);
    const found = /^\d{1,9}$/.test(id) ? await services.versions.text({ theme, app: appId(ctx) }, Number(id)) : null;
    if (found === null) throw notFound('There is no such version; only the latest ones are kept');
    return { text: found };
  },

  async createBlock(ctx, services): Promise<{ paths: string[] }> {
    const { editor } = await changing(ctx, services);
    const { block, language } = validateBody(blockBody, jsonObject(ctx));
    const taken = (await editor.list()).find(({ path }) => /^blocks\/([^/]+)\.[a-z]+$/.exec(path)?.[1] === block);
    if (taken) throw new AppsError('ConflictError', `The app has the file "${taken.path}" already`);
    const paths = await writeNew(editor, blockFiles(editor.folder, block, language));
    ctx.status = 201;
    return { paths };
  },

  async createApp(ctx, services): Promise<{ app: string }> {
    requireEditing(services);
    const site = await siteOf(ctx, services);
    const { app, template } = validateBody(appBody, jsonObject(ctx));
    if (template !== null && !appTemplates().includes(template))
      throw new AppsError('BadRequestError', `There is no template "${template}"`);
    const editor = await services.sites.editor.createApp(site.theme, app);
    try {
      await writeNew(editor, appFiles(editor.folder, app, template ?? undefined));
    } catch (error) {
      // The folder is this request's own: an app without its files is none.
      await rm(editor.folder, { recursive: true, force: true });
      throw error;
    }
    ctx.status = 201;
    return { app };
  },

  appTemplates: async () => appTemplates(),

  async codeHints(): Promise<CodeHints> {
    return {
      definition: schemaWords('definition'),
      settings: schemaWords('settings'),
      types: contextMembers as CodeHints['types'],
    };
  },

  ...checkHandlers,
};

const appId = (ctx: Context): string => String(ctx.params.app);

/** The editor of the app that the path names, and what keeps a text that was replaced. */
async function changing(ctx: Context, services: HttpServices) {
  requireEditing(services);
  const site: Site = await siteOf(ctx, services);
  const { username } = await administratorOf(ctx, services);
  const editor = await services.sites.editor.app(site.theme, appId(ctx));
  const keep = (path: string, text: string) =>
    services.versions.keep({ theme: site.theme, app: appId(ctx), path }, text, username);
  return { editor, keep };
}

type AppEditor = Awaited<ReturnType<HttpServices['sites']['editor']['app']>>;

async function writeNew(editor: AppEditor, files: ReadonlyMap<string, string>): Promise<string[]> {
  const paths: string[] = [];
  for (const [file, content] of files) {
    const path = file.slice(editor.folder.length + 1).replaceAll('\\', '/');
    await editor.write({ path, text: content }, null);
    paths.push(path);
  }
  return paths;
}
