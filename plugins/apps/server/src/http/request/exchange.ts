import type { Context } from 'koa';
import type { SetupProblem } from '../../../../shared/admin-api';
import type { App, AppServices, Visit } from '../../apps';
import type { Requesters } from '../../auth';
import type { Creator, Requester, Rights } from '../../auth/types';
import type { LiveChanges, RuleEntries } from '../../events/types';
import type { AppTarget, Site } from '../../sites/types';

/** The services that HTTP handlers use. */
export interface HttpServices extends AppServices {
  requesters: Requesters;
  live: LiveChanges;
  rules: RuleEntries;
  /** What the machine or the host lacks at the moment. */
  setup(): Promise<SetupProblem[]>;
  /** The accounts behind identities, by identity. */
  creators(identities: readonly string[]): Promise<ReadonlyMap<string, Creator>>;
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
