import { z } from 'zod';
import type {
  BlockChoice,
  HandOver,
  Overview,
  Preview,
  SiteOverview,
  siteRoutes,
  tileRoutes,
} from '../../../../shared/admin-api';
import { newDryRun } from '../../apps';
import { notFound } from '../../common/errors';
import { must, readBody } from '../../common/validation';
import type { Site } from '../../sites/types';
import { viewsOf } from '../app/page-handlers';
import { jsonObject } from '../request/body';
import type { HttpServices } from '../request/exchange';
import { actorOf, audited, whoOf } from './acting';
import { siteProblems, summaryOf } from './apps';
import { lockOf } from './edited-texts';
import { appsOf, type Handlers, pathBelow, siteOf } from './handler';
import { requesterOf } from './why';

const MAX_PATH = 500;

const previewBody = z.object({
  theme: z.string(must('the id of a theme')),
  path: z
    .string(must('a path'))
    .max(MAX_PATH, must(`at most ${MAX_PATH} characters`))
    .default(''),
});

const themeBody = z.object({ theme: z.string(must('the id of a theme')) });

/** What the admin routes of sites and themes answer (shared/admin/apps.ts). */
export const siteHandlers: Handlers<typeof siteRoutes> = {
  async overview(_ctx, services): Promise<Overview> {
    const themes = await services.sites.themes();
    const sites = await Promise.all((await services.sites.all()).map((site) => siteOverview(services, site)));
    const setup = await services.setup();
    return { setup, sites, themes, editing: lockOf(services) === null };
  },

  async setTheme(ctx, services): Promise<SiteOverview> {
    const site = await siteOf(ctx, services);
    const { theme } = readBody(themeBody, jsonObject(ctx));
    await services.sites.activate(site.id, theme);
    return siteOverview(services, await siteOf(ctx, services));
  },

  async previewTheme(ctx, services): Promise<Preview> {
    const site = await siteOf(ctx, services);
    const { theme, path } = readBody(previewBody, jsonObject(ctx));
    if (!(await services.sites.themes()).some(({ id }) => id === theme)) throw notFound(`There is no theme "${theme}"`);
    const base = new URL(services.baseUrl());
    const { pathname, search } = new URL(`${site.url}/${path.replace(/^\/+/, '')}`);
    const requester = await requesterOf(services, 'anonymous');
    const answer = await services.inject({
      ...{ method: 'GET', path: pathBelow(base, pathname) + search, headers: { accept: 'text/html', host: base.host } },
      ...{ requester, dry: newDryRun(), overlay: { theme: { site: site.id, id: theme } } },
    });
    return { status: answer.status, html: answer.text, redirect: answer.location };
  },

  async handOver(ctx, services): Promise<HandOver> {
    const site = await siteOf(ctx, services);
    const actor = await actorOf(ctx, services);
    const requester = whoOf(actor.requester.identity, actor.requester.username);
    const acted = { action: 'log-in', site: site.id, app: null, block: null, requester } as const;
    const handOver = () => services.requesters.handOver(ctx, ctx.state);
    const { token, cookie } = await audited(services, actor, acted, handOver, () => 201);
    if (cookie !== null) ctx.append('Set-Cookie', cookie);
    ctx.set('Cache-Control', 'private, no-store');
    ctx.status = 201;
    return { token, url: `${site.url}/@@login?hand-over=${token}` };
  },
};

async function siteOverview(services: HttpServices, site: Site): Promise<SiteOverview> {
  const apps = await appsOf(services, site);
  const views = await viewsOf(services, site);
  const { id, title, url, theme } = site;
  return {
    id,
    title,
    url,
    theme,
    problems: await siteProblems(services, site),
    apps: await Promise.all(apps.map((found) => summaryOf(services, found, views))),
  };
}

/** What the admin routes of the custom field for tiles answer (shared/admin/apps.ts). */
export const tileHandlers: Handlers<typeof tileRoutes> = {
  async blocks(_ctx, services): Promise<BlockChoice[]> {
    const choices = new Map<string, BlockChoice>();
    for (const site of await services.sites.all()) {
      for (const { app } of await appsOf(services, site)) {
        for (const block of app.blocks.values()) {
          const value = `${app.id}/blocks/${block.id}`;
          // An empty list lets only managers in.
          const isForManagers = block.definition.viewPermission?.length === 0;
          if (!block.layout || isForManagers || choices.has(value)) continue;
          choices.set(value, {
            app: app.id,
            block: block.id,
            value,
            url: services.sites.urls.block(site, app.id, block.id),
          });
        }
      }
    }
    return [...choices.values()].sort((a, b) => (a.value < b.value ? -1 : 1));
  },
};
