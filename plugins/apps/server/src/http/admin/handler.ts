import type { Context } from 'koa';
import type { AdminRouteEntry } from '../../../../shared/admin-api';
import type { App } from '../../apps';
import type { Requester } from '../../auth/types';
import { notFound } from '../../common/errors';
import type { AppKey } from '../../records/types';
import type { Site } from '../../sites/types';
import type { HttpServices } from '../request/exchange';

/** Answers an admin route: what it returns is the body. */
export type Handle = (ctx: Context, services: HttpServices) => Promise<unknown>;

/** The handlers of a topic's routes (shared/admin/). */
export type Handlers<Routes extends Record<string, AdminRouteEntry>> = Record<keyof Routes, Handle>;

/** What Strapi says of an administrator's permissions to a policy and a handler. */
export interface PolicyContext {
  state: { userAbility?: { can(action: string): boolean }; auth?: { strategy: { name: string } } };
}

/** An app of a site, and the key of its records. */
export interface PanelApp {
  site: Site;
  app: App;
  key: AppKey;
}

/** The site that the path names. NotFoundError for an unknown one. */
export async function siteOf(ctx: Context, services: HttpServices): Promise<Site> {
  const site = await services.sites.site(String(ctx.params.site));
  if (!site) throw notFound('There is no such site');
  return site;
}

/** The app that the path names. NotFoundError for an unknown site or app. */
export async function appOf(ctx: Context, services: HttpServices): Promise<PanelApp> {
  const site = await siteOf(ctx, services);
  const app = await services.loadApp(site, String(ctx.params.app));
  if (!app) throw notFound('There is no such app');
  return { site, app, key: { site: site.id, app: app.id } };
}

/** All apps of a site's active theme. */
export async function appsOf(services: HttpServices, site: Site): Promise<PanelApp[]> {
  const ids = await services.sites.apps(site);
  const apps = await Promise.all(ids.map((id) => services.loadApp(site, id)));
  return apps.flatMap((app) => (app ? [{ site, app, key: { site: site.id, app: app.id } }] : []));
}

/** The administrator of a request, as Strapi has authenticated them. */
export function administratorOf(ctx: Context, { requesters }: HttpServices): Promise<Requester> {
  return requesters.fromStrapi(ctx.state);
}

/** Path and query of a request inside the server, as Koa has them: without the path of the base URL, which a proxy takes away. */
export const pathBelow = ({ pathname }: URL, url: string): string =>
  pathname !== '/' && url.startsWith(pathname) ? url.slice(pathname.length) : url;
