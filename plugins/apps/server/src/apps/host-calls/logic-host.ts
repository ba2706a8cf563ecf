import { AppsError, isAppsError, isBlockFailure } from '../../common/errors';
import { hostFunctions, remainingTime } from '../../logic';
import type { HostFunctionName, LogicHost } from '../../logic/types';
import { changedByLogic } from '../../records';
import { checkedMail } from '../mail';
import { queueMail } from '../run/calls-out';
import type { Run } from '../run/types';
import { provenanceOf } from '../run/visits';
import type { Block } from '../types';
import { blockCalls, flashCalls, formCalls } from './block-calls';
import type { HostCallHandlers } from './host-target';
import { permittedTarget, type Target } from './host-target';
import { fetchCalls, jobCalls } from './job-calls';
import { listCalls, recordCalls } from './record-calls';
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
    // After the deadline the session ends by itself with a timeout error.
    if (remainingTime(run.budget.shared) > 0) run.fatal.error ??= error;
    throw interrupted();
  };
  const by = provenanceOf(run.visit);
  const withPermission = (name: HostFunctionName) => {
    const { permission } = hostFunctions[name];
    const handler = handlers()[name] as (args: object, target: Target) => unknown;
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
