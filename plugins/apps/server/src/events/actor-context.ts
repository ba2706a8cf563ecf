import { AsyncLocalStorage } from 'node:async_hooks';
import type { Core } from '@strapi/strapi';
import type { DocumentCalls } from '../apps';
import type { Requesters } from '../auth';
import type { Requester, StrapiAuth } from '../auth/types';
import { isAppsError } from '../common/errors';

/** The requester who changes content, and the rules that led to the change. */
export interface Actor {
  requester: Requester;
  /** Ids of the rules whose functions are running: a rule never triggers itself. */
  chain: ReadonlySet<number>;
}

const noRules: ReadonlySet<number> = new Set();

/**
 * The actor of the current call of Strapi's document service. Logic runs in another process and its calls arrive outside of
 * its request: so each call sets its actor, and the requester carries the rules along.
 */
export function createActorContext(strapi: Core.Strapi, requesters: Requesters) {
  const actors = new AsyncLocalStorage<Actor>();
  const chains = new WeakMap<Requester, ReadonlySet<number>>();

  return {
    /** Wraps the document calls of logic: each runs with its requester as the actor. */
    wrapDocuments: (documents: DocumentCalls): DocumentCalls => {
      return async (uid, method, params, requester) => {
        const { check, run, ...call } = await documents(uid, method, params, requester);
        const actor = { requester, chain: chains.get(requester) ?? noRules };
        const runAsActor = <T>(work: () => Promise<T>) => actors.run(actor, work);
        return { ...call, ...(check ? { check: () => runAsActor(check) } : {}), run: () => runAsActor(run) };
      };
    },

    /** A copy of the requester, for the function of a rule. */
    forRule({ requester, chain }: Actor, rule: number): Requester {
      const copy = Object.freeze({ ...requester });
      chains.set(copy, new Set([...chain, rule]));
      return copy;
    },

    /** The current actor: logic's requester, else that of Strapi's own request; anonymous in code outside of requests. */
    async current(): Promise<Actor> {
      const actor = actors.getStore();
      if (actor) return actor;
      const state = strapi.requestContext.get()?.state as { auth?: StrapiAuth; user?: unknown } | undefined;
      const requester = await requesters.fromStrapi(state ?? {}).catch((error: unknown) => {
        // Strapi gives users whose role was deleted the public's permissions.
        if (isAppsError(error, 'UnauthorizedError')) return requesters.anonymous();
        throw error;
      });
      return { requester, chain: noRules };
    },
  };
}

export type ActorContext = ReturnType<typeof createActorContext>;
