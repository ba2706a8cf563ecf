import type { Context } from 'koa';
import type { App, DryRun, OpenDraft, OwnLink, RequestBegin, Visit } from '../../apps';
import type { Requester, Rights } from '../../auth/types';
import type { RequestFiles } from '../../files';
import type { Address, AppTarget, Site } from '../../sites/types';
import type { Exchange, HttpServices, visitorOf } from './exchange';

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
