import { seesRecords } from '../../auth';
import { AppsError, missing, notFound } from '../../common/errors';
import type { HostArguments, HostFunctionName, HostValue, Permission } from '../../logic/types';
import type { AppKey } from '../../records/types';
import { visibleIn } from '../run/element-data';
import { keyOf, nestedRun } from '../run/run';
import type { Run } from '../run/types';
import { refusal } from '../run/visits';

/** The handlers of host functions, by name; they are called after the check of permissions. */
export type HostCallHandlers = {
  [Name in HostFunctionName]: (args: HostArguments<Name>, target: Target) => Promise<HostValue<Name>> | HostValue<Name>;
};

/** The app that a host call addresses: the run's own, or another one with the requester's rights there. */
export interface Target {
  run: Run;
  key: AppKey;
  foreign: boolean;
  /** The only identity whose records exist for the call: the requester's, where they see only own records of another app. */
  creator: string | undefined;
}

/** What a permission allows, for the message of its refusal. */
const actions = {
  view: 'see records',
  create: 'add records',
  edit: 'change records',
  delete: 'delete records',
  manager: 'rebuild the indexes',
} as const;

const writing: ReadonlySet<Permission> = new Set(['create', 'edit', 'delete', 'manager']);

/**
 * Opens the app that a host call addresses and checks the permission of its row. A missing record passes: the handler
 * reports it.
 * @param args arguments of the call; `app` null or undefined: the run's own app
 */
export async function permittedTarget(
  run: Run,
  permission: Permission,
  { app, id }: { app?: string | null; id?: unknown },
): Promise<Target> {
  const target = await openTarget(run, app);
  const { rights } = target.run;
  if (permission === 'manager' && !rights.manager) throw refused(run, target, permission);
  if (writing.has(permission)) requireWrites(run);
  if (!target.foreign) {
    if (run.visit.dry?.isGuarded) requireVisible(target, permission);
    return target;
  }
  if (permission === 'view' || permission === 'create') {
    const has = permission === 'view' ? seesRecords(rights) : rights.create;
    if (!has) throw refused(run, target, permission);
  } else if (permission === 'edit' || permission === 'delete') {
    const record = visibleIn(target.run, await run.unit.get(target.key, String(id), target.creator));
    if (record && !rights[permission](record.creator)) throw refused(run, target, permission);
  }
  return target;
}

/** Permissions of calls that answer with records, or with what is in them. */
const showing: ReadonlySet<Permission> = new Set(['view', 'edit', 'delete']);

/** ForbiddenError for a call of a guarded run to records that its requester may not see. */
function requireVisible({ run, key }: Target, permission: Permission): void {
  if (!showing.has(permission) || seesRecords(run.rights)) return;
  throw new AppsError(
    'ForbiddenError',
    `Records of the app "${key.app}" are hidden: without the permission "records" this runs with the rights of an anonymous visitor`,
  );
}

function refused(run: Run, { key }: Target, action: keyof typeof actions): AppsError {
  return refusal(run.visit.requester, `${actions[action]} of the app "${key.app}"`);
}

async function openTarget(run: Run, id: string | null | undefined): Promise<Target> {
  if (id === null || id === undefined || id === run.app.id)
    return { run, key: keyOf(run), foreign: false, creator: undefined };
  const app = await run.services.loadApp(run.visit.site, id);
  if (!app) throw notFound(missing.app(id));
  if (app.error) throw app.error;
  const other = nestedRun(run, app);
  return { run: other, key: keyOf(other), foreign: true, creator: other.rights.viewOwn ?? undefined };
}

function requireWrites(run: Run): void {
  if (run.visit.writes.records) return;
  throw new AppsError('CsrfError', 'Writing records during a GET request needs a valid X-CSRF-TOKEN header');
}
