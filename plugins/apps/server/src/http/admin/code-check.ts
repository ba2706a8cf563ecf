import type { Context } from 'koa';
import { z } from 'zod';
import type { CodeProblem, Preview } from '../../../../shared/admin-api';
import {
  type App,
  checkApp,
  type LintServices,
  loadApp,
  located,
  newDryRun,
  programOf,
  sorted,
  sourceOf,
} from '../../apps';
import { AppsError, isAppsError, notFound } from '../../errors';
import { emptyContext, noHost } from '../../logic';
import { must, readBody } from '../../request-schema';
import { isEditablePath, withFiles } from '../../sites';
import { jsonObject } from '../request/body';
import type { HttpServices } from '../request/exchange';
import { requireEditing } from './code';
import { siteOf } from './handler';
import { requesterOf } from './why';

/** Texts of one request, and characters of all of them. */
const MAX = { files: 50, characters: 2_000_000 };

const text = z.string(must('a text'));

const texts = z
  .record(z.string(), text, must('an object of texts by path'))
  .default({})
  .refine((files) => Object.keys(files).length <= MAX.files, must(`at most ${MAX.files} texts`))
  .refine(
    (files) => Object.values(files).reduce((sum, one) => sum + one.length, 0) <= MAX.characters,
    must(`at most ${MAX.characters} characters together`),
  )
  .refine((files) => Object.keys(files).every(isEditablePath), must('texts by paths of an app'));

const checkBody = z.object({ files: texts });
const previewBody = z.object({
  block: text.max(200, must('the id of a block')),
  who: text.max(300, must('a requester')),
  content: text.max(500, must('a path of at most 500 characters')).default(''),
  files: texts,
});

/** What the admin routes that run unsaved texts answer (shared/admin/code.ts). */
export const checkHandlers = {
  async checkFiles(ctx: Context, services: HttpServices): Promise<{ problems: CodeProblem[] }> {
    const { files } = readBody(checkBody, jsonObject(ctx));
    return { problems: await problemsOf(services, await appWith(ctx, services, files)) };
  },

  async preview(ctx: Context, services: HttpServices): Promise<Preview> {
    const { block, who, content, files } = readBody(previewBody, jsonObject(ctx));
    const app = await appWith(ctx, services, files);
    const requester = await requesterOf(services, who);
    const { site } = app.folder;
    const base = new URL(services.baseUrl());
    const address = new URL(services.sites.urls.block(site, app.id, block, content.replace(/^\/+|\/+$/g, '')));
    const path = base.pathname === '/' ? address.pathname : address.pathname.slice(base.pathname.length);
    const answer = await services.inside({
      ...{ method: 'GET', path, headers: { accept: 'text/html', host: base.host } },
      ...{ requester, dry: newDryRun(), app: app.id, files: new Map(Object.entries(files)) },
    });
    return { status: answer.status, html: answer.text, redirect: answer.location };
  },
};

/** The app with unsaved texts, which may run only where they could be saved. */
async function appWith(ctx: Context, services: HttpServices, files: Record<string, string>): Promise<App> {
  if (Object.keys(files).length > 0) requireEditing(services);
  const site = await siteOf(ctx, services);
  const folder = await services.sites.app(site, String(ctx.params.app));
  if (!folder) throw notFound('There is no such app');
  if (Object.keys(files).length > 0 && folder.themeId !== site.theme)
    throw new AppsError('ForbiddenError', `This app belongs to the theme "${folder.themeId}"`);
  return loadApp(withFiles(folder, new Map(Object.entries(files))));
}

/** The problems of an app as the command line's `lint` finds them. */
async function problemsOf({ layouts, logic }: HttpServices, app: App): Promise<CodeProblem[]> {
  const found: Parameters<typeof located>[0][] = [];
  const services: LintServices = {
    layouts,
    warningsOf: () => [],
    async functionsOf(checked, block) {
      if (!block.logic) return new Set();
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
  await checkApp(services, app, (finding) => void found.push(finding));
  const place = { theme: app.folder.themeId, app: app.id, prefix: '', source: (file: string) => sourceOf(app, file) };
  return sorted(found.map((finding) => located(finding, place))).map(
    ({ theme: _theme, app: _app, ...problem }) => problem,
  );
}
