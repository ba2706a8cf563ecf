import type { Core } from '@strapi/strapi';
import type { Context } from 'koa';
import type { SetupProblem } from '../../../../shared/admin-api';
import type { Items, Json } from '../../../../shared/json';
import type { TestOutcome, TestRunOptions } from '../../../../shared/test-events';
import {
  type App,
  type AppServices,
  beginRequest,
  type DryRun,
  type OpenDraft,
  type OwnLink,
  type RequestBegin,
  type Visit,
} from '../../apps';
import type { AuditLog } from '../../audit';
import { type Requesters, safeMethods } from '../../auth';
import type { Requester, Rights } from '../../auth/types';
import type { LiveChanges, RuleEntries, Unconfirmed, WaitingLists } from '../../events';
import type { RequestFiles } from '../../files';
import type { Sheets } from '../../interchange';
import type { DocumentAccess, RequestData } from '../../logic/types';
import type { Metrics } from '../../metrics';
import type { Persons } from '../../persons';
import type { Processes } from '../../processes';
import type { Schedules } from '../../schedules/types';
import type { PanelColumns, Versions } from '../../sites';
import type { Address, AppTarget, Site } from '../../sites/types';
import { flatFields } from './body';
import { mediaType } from './negotiate';

/** Tells open pages which version of the theme files the server has (docs/decisions/development-server.md). */
export interface Reloads {
  /** The version of the files on the disk now. */
  version(): Promise<string>;
  /** `/<site_id>/@@apps.reload`: server-sent events, one `version` at the start and one for each change. */
  answer(ctx: Context): void;
  /** Ends all connections. */
  destroy(): void;
}

/** A request that the admin panel makes in the name of a requester; its writes are switched off. */
export interface InjectedRequest {
  method: string;
  /** Path and query. */
  path: string;
  /** In lower case. */
  headers: Record<string, string>;
  /** The parsed body. */
  body?: unknown;
  requester: Requester;
  dry: DryRun;
  overlay?: Overlay;
}

/** What one request of the panel sees instead of what is stored (`overlaid` in negotiate.ts). */
export interface Overlay {
  /** Texts of files of one app, by path. */
  files?: { site: string; app: string; texts: ReadonlyMap<string, string> };
  /** A theme in place of a site's active one. */
  theme?: { site: string; id: string };
}

/** What it would have been answered with. */
export interface InjectedAnswer {
  status: number;
  /** Media type. */
  type: string;
  location: string | null;
  text: string;
}

/** The services that HTTP handlers use. */
export interface HttpServices extends AppServices {
  metrics: Metrics;
  /** Runs a statement where records are read. */
  statement(sql: string, values: readonly unknown[]): Promise<unknown[]>;
  requesters: Requesters;
  /** Reads workbooks. */
  sheets: Sheets;
  live: LiveChanges;
  /** This process among the others on the database. */
  processes: Pick<Processes, 'signals' | 'destroy'>;
  rules: RuleEntries;
  schedules: Schedules;
  waitingLists: WaitingLists;
  unconfirmed: Unconfirmed;
  /** Reloads open pages when files change; only where the command `dev` has started Strapi. */
  reloads?: Reloads | undefined;
  /** Which permissions decide about content. */
  contentRights: Pick<DocumentAccess, 'permissions' | 'types'>;
  versions: Versions;
  /** What administrators run in the names of others. */
  audit: AuditLog;
  /** What is stored of persons. */
  persons: Persons;
  panelColumns: PanelColumns;
  /** Runs the tests of the apps of a themes folder, for at most some milliseconds (docs/reference/app-tests.md). */
  runTests(wanted: Omit<TestRunOptions, 'root' | 'timeout'>, timeout: number): Promise<TestOutcome>;
  /** What the machine or the host lacks at the moment. */
  setup(): Promise<SetupProblem[]>;
  /** Answers a request of the admin panel itself. */
  inject(request: InjectedRequest): Promise<InjectedAnswer>;
  /** Strapi's public URL, without a slash at its end (docs/reference/addresses.md#base-url). */
  baseUrl(): string;
  /** In production broken themes are not explained to visitors, and cookies are Secure on https. */
  production: boolean;
}

export type TargetOf<Kind extends AppTarget['kind']> = Extract<AppTarget, { kind: Kind }>;

/** One request to an app, after its address, requester and CSRF token were checked. */
export interface Exchange<Target extends AppTarget = AppTarget> {
  ctx: Context;
  services: HttpServices;
  site: Site;
  app: App;
  requester: Requester;
  rights: Rights;
  visit: Visit;
  target: Target;
  /** A JSON request, as opposed to a page request (docs/reference/addresses.md#json-or-page). */
  json: boolean;
}

/**
 * The visitor of a request, and the marks of forms that it shows. The cookie of a request that a page of another origin has
 * sent does not count. It is valid below the site's address.
 */
export function visitorOf(
  ctx: Context,
  { requesters }: HttpServices,
  site: Site,
): Required<Pick<Visit, 'visitor' | 'forms'>> {
  const { visitors } = requesters;
  let id: string | null | undefined;
  const known = (): string | null => {
    id ??= requesters.takesCookies(ctx) ? visitors.read(site.id, ctx.cookies.get(visitors.cookie)) : null;
    return id;
  };
  return {
    visitor: {
      id: known,
      begin() {
        if (known() !== null || !requesters.takesCookies(ctx)) return;
        id = visitors.create();
        const secure = ctx.secure || site.url.startsWith('https:');
        ctx.append('Set-Cookie', visitors.header(site.id, id, new URL(site.url).pathname, secure));
      },
    },
    forms: {
      shown: (app, block) => visitors.shown([site.id, app, block]),
      age: (app, block, mark) => visitors.age([site.id, app, block], mark),
      challenge: (app) => JSON.stringify(requesters.proofs.challenge([site.id, app])),
    },
  };
}

/** Addresses that mean "all interfaces", which a browser cannot open. */
const anyAddress = new Set(['0.0.0.0', '::', '']);

/**
 * Strapi's public URL: `server.url`, or the listening origin; never a header of the request
 * (docs/reference/addresses.md#base-url).
 */
export function createBaseUrl(strapi: Core.Strapi): () => string {
  const configured = String(strapi.config.get('server.url', '') ?? '').replace(/\/+$/, '');
  if (/^https?:\/\//.test(configured)) return () => configured;
  let origin: string | undefined;
  return () => {
    origin ??= listeningOrigin(strapi);
    return (origin ?? String(strapi.config.get('server.absoluteUrl'))) + configured;
  };
}

/** The absolute address of the admin panel, without a slash at its end. @param baseUrl of the host */
export function panelUrl(strapi: Core.Strapi, baseUrl: string): string {
  return new URL(String(strapi.config.get('admin.url', '/admin')), baseUrl).href.replace(/\/+$/, '');
}

function listeningOrigin(strapi: Core.Strapi): string | undefined {
  const address = strapi.server.httpServer.address();
  if (address === null || typeof address === 'string') return undefined;
  const host = String(strapi.config.get('server.host', 'localhost'));
  const name = anyAddress.has(host) ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${address.port}`;
}

/** Who has sent a request: a client, or the admin panel in the name of a requester, whose writes are switched off. */
export type RequestSender = { kind: 'client' } | { kind: 'panel'; requester: Requester; dry: DryRun };

/** A request at one of the plugin's addresses, before anything is looked up. */
export interface Arrived<To extends Address = Address> {
  readonly ctx: Context;
  readonly services: HttpServices;
  readonly address: To;
  readonly sender: RequestSender;
  /** Whether its errors are JSON. */
  json: boolean;
}

/** One whose site is known. */
export interface Located<To extends Address = Address> extends Arrived<To> {
  site: Site;
  /** The posted form of a page, which is answered with a page or a form. */
  isForm: boolean;
}

/** One whose requester is known. */
export interface Identified<To extends Address = Address> extends Located<To> {
  requester: Requester;
  /** The moment at which it began to read; null where no result of it is kept. */
  begin: RequestBegin | null;
}

/** Addresses that an app answers. */
export type OfApp = Extract<Address, { kind: 'app' | 'view' }>;

/** The same, and the pages of the site. */
export type OfSite = Extract<Address, { kind: 'app' | 'view' | 'page' }>;

/** One to an app whose rights are known, and which handler answers it. */
export interface OpenedApp extends Identified<OfApp> {
  app: App;
  /** A view is a block's page. */
  target: AppTarget;
  rights: Rights;
  /** The creator whose records are the requester's own; '' for none. */
  owner(): string;
  /** The visitor, and the marks of forms. */
  marks: ReturnType<typeof visitorOf>;
  /** The record that it owns, or the draft that it continues, by the link in its address. */
  own: OwnLink | undefined;
  draft: OpenDraft | undefined;
  /** Whether it is a webhook whose signature is right. */
  isVerified: boolean;
  /** Whether it is answered with JSON. */
  answersJson: boolean;
  handle(exchange: Exchange<never>): Promise<void>;
}

/** One whose body was read or checked. */
export interface Received extends OpenedApp {
  files: RequestFiles;
}

/** What is known of a request when something goes wrong. */
export type Reached = Arrived & Partial<Omit<Received, keyof Arrived> & { visit: Visit }>;

/**
 * The object of a request, with room for what its stages add: V8 makes a slow dictionary of an object to which `Object.assign` adds
 * twenty properties (docs/decisions/garbage.md).
 */
export function arrivedRequest({ ctx, services, address, sender, json }: Arrived): Arrived {
  const found: Record<keyof Omit<Reached, keyof Arrived>, undefined> = {
    site: undefined,
    isForm: undefined,
    requester: undefined,
    begin: undefined,
    app: undefined,
    target: undefined,
    rights: undefined,
    owner: undefined,
    marks: undefined,
    own: undefined,
    draft: undefined,
    isVerified: undefined,
    answersJson: undefined,
    handle: undefined,
    files: undefined,
    visit: undefined,
  };
  const request: Arrived = { ctx, services, address, sender, json, ...found };
  return request;
}

/** Headers that carry credentials: never shown to logic. */
const secretHeaders = new Set(['authorization', 'cookie', 'x-csrf-token', 'proxy-authorization']);

/** The request as logic sees it (docs/reference/logic.md#context): plain data without credentials. */
export function requestData(ctx: Context, baseUrl: string): RequestData {
  const { body } = ctx.request as { body?: unknown };
  const isJson = mediaType(ctx) === 'application/json';
  return {
    method: ctx.method,
    url: baseUrl + ctx.originalUrl,
    path: ctx.path,
    query: plain(ctx.query),
    form: isJson ? {} : plain(flatFields(body)),
    body: isJson ? ((body ?? null) as Json) : null,
    headers: safeHeaders(ctx),
  };
}

function plain(source: unknown): Items {
  if (source === null || typeof source !== 'object') return {};
  const { _csrf, _shown, _website, _proof, ...rest } = source as Record<string, unknown>;
  return JSON.parse(JSON.stringify(rest)) as Items;
}

function safeHeaders(ctx: Context): Record<string, string> {
  const entries = Object.entries(ctx.headers).filter(([name]) => !secretHeaders.has(name));
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
}

/**
 * The moment at which a request begins that only reads; null for others. It must be taken before anything is read that changes,
 * such as the permissions of who asks: a rendering that is kept since then may depend on all of it.
 */
export async function beginReading(ctx: Context, services: HttpServices): Promise<RequestBegin | null> {
  if (!safeMethods.has(ctx.method)) return null;
  const begin = beginRequest(services);
  if (services.config.exactCache) await begin.mark();
  return begin;
}
