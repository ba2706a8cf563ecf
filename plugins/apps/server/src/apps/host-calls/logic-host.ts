import { seesRecords } from '../../auth';
import { AppsError, isAppsError, isBlockFailure, missing, notFound } from '../../common/errors';
import { hostFunctions } from '../../logic';
import type { HostArguments, HostFunctionName, HostValue, LogicHost, Permission } from '../../logic/types';
import { changedByLogic } from '../../records';
import type { AppKey } from '../../records/types';
import { checkedMail } from '../mail';
import { queueMail } from '../run/calls-out';
import { endAttempt } from '../run/refusals';
import { keyOf, nestedRun } from '../run/run';
import type { Run } from '../run/types';
import { provenanceOf, refusal } from '../run/visits';
import type { Block } from '../types';
import { blockCalls, flashCalls, formCalls } from './block-calls';
import { fetchCalls, jobCalls } from './job-calls';
import { listCalls, recordCalls, recordOf } from './record-calls';
import { contentCalls, siteCalls } from './site-calls';

/** The host functions for the logic of a block in a run (docs/reference/context.md). */
export function logicHost(run: Run, block: Block): LogicHost {
  let made: HostCallHandlers | undefined;
  return contained(run, () => {
    made ??= handlersOf(run, block);
    return made;
  });
}

function handlersOf(run: Run, block: Block): HostCallHandlers {
  const site = siteCalls(run);
  return Object.assign(
    recordCalls(run),
    listCalls(run),
    blockCalls(run),
    site.handlers,
    contentCalls(run, site.documents),
    formCalls(run, block),
    flashCalls(run),
    mailCalls(run),
    fetchCalls(run),
    jobCalls(run),
  );
}

function mailCalls(run: Run): Pick<HostCallHandlers, 'sendMail'> {
  return {
    async sendMail({ mail }) {
      await queueMail(run, checkedMail(mail));
    },
  };
}

const interrupted = () => new AppsError('ServiceUnavailableError', 'The request was interrupted');

/** Whether a host that was called has failed, not this server. */
const isOfOthers = (error: unknown) =>
  isAppsError(error, 'BadGatewayError') || isAppsError(error, 'GatewayTimeoutError');

/**
 * Opens the app that a call addresses, checks the `permission` of the call's row, and passes only safe errors to logic. Any
 * other error (a collision with another request, a lost database) ends the whole attempt, even if the logic catches it.
 * @param handlers makes them at the first call: every session gets the host functions, and many call none
 */
function contained(run: Run, handlers: () => HostCallHandlers): LogicHost {
  const settle = (error: unknown): never => {
    if (isBlockFailure(error) || isOfOthers(error) || (error instanceof AppsError && error.status < 500)) throw error;
    endAttempt(run, error);
    throw interrupted();
  };
  const by = provenanceOf(run.visit);
  const withPermission = (name: HostFunctionName) => {
    const { permission } = hostFunctions[name];
    const handler = handlers()[name] as (args: object, target: AddressedApp) => unknown;
    return async (args: { app?: string | null; id?: unknown }) => {
      if (run.fatal.error !== undefined) throw interrupted();
      try {
        const call = async () => handler(args, await permittedTarget(run, permission, args));
        return await changedByLogic(by, call);
      } catch (error) {
        return settle(error);
      }
    };
  };
  return new Proxy({} as LogicHost, { get: (_host, name) => withPermission(name as HostFunctionName) });
}

/** The handlers of host functions, by name; they are called after the check of permissions. */
export type HostCallHandlers = {
  [Name in HostFunctionName]: (
    args: HostArguments<Name>,
    target: AddressedApp,
  ) => Promise<HostValue<Name>> | HostValue<Name>;
};

/** The app that a host call addresses: the run's own, or another one with the requester's rights there. */
export interface AddressedApp {
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
async function permittedTarget(
  run: Run,
  permission: Permission,
  { app, id }: { app?: string | null; id?: unknown },
): Promise<AddressedApp> {
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
    const record = await recordOf(target, String(id));
    if (record && !rights[permission](record.creator)) throw refused(run, target, permission);
  }
  return target;
}

/** Permissions of calls that answer with records, or with what is in them. */
const showing: ReadonlySet<Permission> = new Set(['view', 'edit', 'delete']);

/** ForbiddenError for a call of a guarded run to records that its requester may not see. */
function requireVisible({ run, key }: AddressedApp, permission: Permission): void {
  if (!showing.has(permission) || seesRecords(run.rights)) return;
  throw new AppsError(
    'ForbiddenError',
    `Records of the app "${key.app}" are hidden: without the permission "records" this runs with the rights of an anonymous visitor`,
  );
}

function refused(run: Run, { key }: AddressedApp, action: keyof typeof actions): AppsError {
  return refusal(run.visit.requester, `${actions[action]} of the app "${key.app}"`);
}

async function openTarget(run: Run, id: string | null | undefined): Promise<AddressedApp> {
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
