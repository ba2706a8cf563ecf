import type { Context } from 'koa';
import { type AuditAction, permissionUid, type RunDetail, type RunInput } from '../../../../shared/admin-api';
import { callVisit, type Visit } from '../../apps';
import type { Requester } from '../../auth/types';
import { AppsError, notFound } from '../../common/errors';
import type { Through } from '../../records';
import type { HttpServices } from '../request/exchange';
import { administratorOf, type PanelApp, type PolicyContext } from './handler';
import { requesterOf } from './why';

/** The administrator of a request, and in whose names they may run logic (docs/reference/rights.md#in-the-name-of-others). */
interface Actor {
  requester: Requester;
  /** Whether they may see the records of all apps: only then they may run logic as somebody else than an anonymous visitor. */
  seesRecords: boolean;
  /** Whether they may do everything in apps. */
  manages: boolean;
  /** Whether they may do everything in Strapi: with a session of the panel, not with a token. */
  isSuper: boolean;
}

/** The name of those without a login, as `requesterOf` takes it. */
const ANONYMOUS = 'anonymous';

export async function actorOf(ctx: Context, services: HttpServices): Promise<Actor> {
  const { userAbility, auth } = ctx.state as PolicyContext['state'];
  const may = (permission: 'records' | 'manage') => userAbility?.can(permissionUid(permission)) === true;
  const manages = may('manage');
  const requester = await administratorOf(ctx, services);
  // An admin token has fewer rights than its owner.
  const isSession = auth?.strategy.name === 'admin';
  const isSuper = isSession && (await services.requesters.impersonations.isSuperAdministrator(requester));
  return { requester, seesRecords: manages || may('records'), manages, isSuper };
}

const refused = (message: string) => new AppsError('ForbiddenError', message);

/** ForbiddenError unless the actor may run logic as `requester`. */
async function requireActing({ requesters }: HttpServices, actor: Actor, requester: Requester): Promise<void> {
  if (requester.kind === 'administrator') {
    if (await requesters.impersonations.isSuperAdministrator(requester))
      throw refused('Nothing runs as a super administrator');
    if (requester.identity !== actor.requester.identity && !actor.isSuper)
      throw refused('Only a super administrator runs something as another administrator');
  }
  if (requester.isManager && !actor.manages)
    throw refused(
      'This requester may do everything in apps: to run something in their name takes the permission "manage"',
    );
}

/**
 * The requester as whom a preview shows a block.
 * @param who a requester as of WhyQuery
 * @returns the actor's own requester where they name themselves. ForbiddenError, NotFoundError
 */
export async function previewedAs(services: HttpServices, actor: Actor, who: string): Promise<Requester> {
  if (who !== ANONYMOUS && !actor.seesRecords)
    throw refused(
      'With the permission "develop" alone a preview is that of an anonymous visitor; others take "records", too',
    );
  return acting(services, actor, await requesterOf(services, who));
}

async function acting(services: HttpServices, actor: Actor, requester: Requester): Promise<Requester> {
  await requireActing(services, actor, requester);
  // Never more rights than the request has: an admin token has fewer than its owner.
  return requester.identity === actor.requester.identity ? actor.requester : requester;
}

/**
 * The requester as whom a run runs again: its own; for an actor who may not see records an anonymous visitor, and only where
 * the run holds nothing that a visitor has sent. ForbiddenError; ConflictError for a requester who may no longer log in.
 */
export async function repeatedAs(services: HttpServices, actor: Actor, run: RunDetail): Promise<Requester> {
  if (!actor.seesRecords) {
    if (isSent(run.input))
      throw refused('This run holds what a visitor has sent: to run it again takes the permission "records"');
    return services.requesters.anonymous();
  }
  const requester = await requesterOfRun(services, run);
  if (!requester) throw new AppsError('ConflictError', 'Its requester can no longer be acted for: they may not log in');
  return acting(services, actor, requester);
}

/**
 * The requester that a run had, with the rights that they have now; null for one who may no longer act. What a schedule has
 * called runs in the roles that its app names.
 */
async function requesterOfRun({ requesters, sites, loadApp }: HttpServices, run: RunDetail): Promise<Requester | null> {
  if (run.job?.kind !== 'schedule') return requesters.impersonations.withIdentity(run.requester.identity);
  const site = await sites.site(run.site);
  const app = site && (await loadApp(site, run.app));
  return requesters.anonymousIn(app?.settings.scheduleAs ?? []);
}

/** Whether a run's input is more than an address: a form, a body, or an item of the content. */
const isSent = (input: RunInput | null): boolean => input !== null && (input.method !== 'GET' || input.call !== null);

/** The name of a requester as of WhyQuery. */
export function whoOf(identity: string, name: string | null): string {
  const [, kind, id] = /^(\w+):(.*)$/s.exec(identity) ?? [];
  return kind === undefined ? ANONYMOUS : `${kind}:${name ?? id}`;
}

/** ForbiddenError for unsaved settings of an actor who may not see records: `acl` in them says who sees records. */
export function requireSavedSettings({ seesRecords }: Actor, files: Record<string, string>): void {
  if (!seesRecords && Object.hasOwn(files, 'settings.yaml'))
    throw refused('Unsaved settings.yaml says who sees records: to run with it takes the permission "records"');
}

/** What the actor runs, for the audit log. */
interface Acted {
  action: AuditAction;
  site: string | null;
  app: string | null;
  block: string | null;
  requester: string;
  files?: Record<string, string>;
}

/** Runs `work` once the audit log has it. @param statusOf the status of its result for the log */
export function audited<T>(
  { audit }: HttpServices,
  { requester }: Actor,
  { files = {}, ...acted }: Acted,
  work: () => Promise<T>,
  statusOf: (result: T) => number,
): Promise<T> {
  const administrator = { identity: requester.identity, name: requester.username };
  return audit.run({ ...acted, administrator, unsaved: Object.keys(files) }, work, statusOf);
}

/** The visit of what an administrator does in the panel with an app. @param recordId the record that it is about */
export async function panelVisit(
  ctx: Context,
  services: HttpServices,
  { site, app }: PanelApp,
  recordId?: string,
  through: Through = 'panel',
): Promise<Visit> {
  const requester = await administratorOf(ctx, services);
  const content = await services.sites.content.resolve(site, '', requester);
  if (!content) throw notFound('There is no such site');
  const { urls } = services.sites;
  const address = recordId === undefined ? urls.app(site, app.id) : urls.record(site, app.id, recordId);
  return callVisit(services, { site, content, requester, address, params: {}, through });
}
