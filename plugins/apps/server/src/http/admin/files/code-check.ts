import type { Context } from 'koa';
import { z } from 'zod';
import type { CodeProblem, Preview } from '../../../../../shared/admin-api';
import { type App, loadApp, newDryRun } from '../../../apps';
import { must, readBody } from '../../../common/request-schema';
import { withFiles } from '../../../sites';
import type { Site } from '../../../sites/types';
import { jsonObject } from '../../request/body';
import type { HttpServices } from '../../request/exchange';
import { actorOf, audited, previewedAs, requireSavedSettings } from '../acting';
import { pathBelow, siteOf } from '../handler';
import { editedApp, texts } from './edited-texts';
import { lintProblems } from './lint-problems';

const text = z.string(must('a text'));

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
    const app = await overlaidApp(services, await siteOf(ctx, services), String(ctx.params.app), files);
    const problems = await lintProblems(services, app);
    return { problems: problems.map(({ theme: _theme, app: _app, ...problem }) => problem) };
  },

  async preview(ctx: Context, services: HttpServices): Promise<Preview> {
    const { block, who, content, files } = readBody(previewBody, jsonObject(ctx));
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
        ...{
          method: 'GET',
          path: pathBelow(base, address.pathname),
          headers: { accept: 'text/html', host: base.host },
        },
        ...{ requester, dry, overlay },
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
