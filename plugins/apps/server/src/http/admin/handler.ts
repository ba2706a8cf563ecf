import { rm } from 'node:fs/promises';
import type { Context } from 'koa';
import type { AdminRouteEntry } from '../../../../shared/admin-api';
import { type Items, isItems } from '../../../../shared/json';
import type { App } from '../../apps';
import type { Requester } from '../../auth/types';
import { AppsError, notFound } from '../../common/errors';
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

/** The file of a form that Strapi's parser has put into the temporary folder, and its field `options` as JSON. */
interface Upload {
  path: string;
  size: number;
  options: Items;
}

/**
 * Runs `work` with the one file of a form, which is deleted afterwards.
 * @param work may call `keep`: it then deletes the file itself
 */
export async function withUpload<T>(ctx: Context, work: (upload: Upload, keep: () => void) => Promise<T>): Promise<T> {
  const request = ctx.request as { files?: Record<string, unknown>; body?: Record<string, unknown> };
  const sent = Object.values(request.files ?? {}).flat() as { filepath: string; size: number }[];
  // Strapi deletes files of some names itself, before a work that runs on has read them.
  delete request.files;
  let isKept = false;
  try {
    const [file] = sent;
    if (!file || sent.length !== 1) throw new AppsError('BadRequestError', 'The form must hold one file');
    const upload = { path: file.filepath, size: file.size, options: optionsOf(request.body) };
    return await work(upload, () => {
      isKept = true;
    });
  } finally {
    for (const { filepath } of isKept ? sent.slice(1) : sent) await rm(filepath, { force: true });
  }
}

/** The field `options` of a form: a JSON object. BadRequestError for anything else. */
export function optionsOf(body: Record<string, unknown> | undefined): Items {
  try {
    const value: unknown = JSON.parse(String(body?.options ?? '{}'));
    if (isItems(value)) return value;
  } catch {
    // Text that is not JSON is reported like JSON of another shape.
  }
  throw new AppsError('BadRequestError', 'The field "options" must be a JSON object');
}
