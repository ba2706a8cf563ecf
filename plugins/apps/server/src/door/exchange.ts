import type { Context } from 'koa';
import type { App, AppServices, Visit } from '../apps';
import type { LiveChanges, RuleEntries } from '../events/types';
import type { Requesters } from '../requester';
import type { Requester, Rights } from '../requester/types';
import type { AppTarget, Site } from '../sites/types';

/** What the door is made of. */
export interface DoorServices extends AppServices {
  requesters: Requesters;
  live: LiveChanges;
  rules: RuleEntries;
  /** Strapi's public URL, without a slash at its end (contract, section 3). */
  baseUrl(): string;
  /** In production broken themes are not explained to visitors, and cookies are Secure on https. */
  production: boolean;
}

export type TargetOf<Kind extends AppTarget['kind']> = Extract<AppTarget, { kind: Kind }>;

/** One request to an app, after its address, requester and CSRF token were checked. */
export interface Exchange<Target extends AppTarget = AppTarget> {
  ctx: Context;
  services: DoorServices;
  site: Site;
  app: App;
  requester: Requester;
  rights: Rights;
  visit: Visit;
  target: Target;
  /** A JSON request, as opposed to a page request (contract, section 3). */
  json: boolean;
}
