import { AsyncLocalStorage } from 'node:async_hooks';
import type { Core } from '@strapi/strapi';
import type { DocumentCalls } from '../apps';
import { isAppsError } from '../errors';
import type { Requesters } from '../requester';
import type { Requester, StrapiAuth } from '../requester/types';

/** Who changes content, and the rules that have led to it. */
export interface Actor {
  requester: Requester;
  /** Ids of the rules whose functions are running: none of them is begun again by what it does itself. */
  chain: ReadonlySet<number>;
}

const noRules: ReadonlySet<number> = new Set();

/**
 * Tells who is acting when Strapi's document service is at work. Logic runs in another process, and what it asks for
 * arrives outside of its request: so its calls say who is acting, and its requester carries the rules along.
 */
export function createActing(strapi: Core.Strapi, requesters: Requesters) {
  const acting = new AsyncLocalStorage<Actor>();
  const chains = new WeakMap<Requester, ReadonlySet<number>>();

  return {
    /** The document calls of logic, which act for their requester. */
    through: (documents: DocumentCalls): DocumentCalls => {
      return async (uid, method, params, requester) => {
        const { reads, check, run } = await documents(uid, method, params, requester);
        const actor = { requester, chain: chains.get(requester) ?? noRules };
        const acts = <T>(work: () => Promise<T>) => acting.run(actor, work);
        return { reads, ...(check ? { check: () => acts(check) } : {}), run: () => acts(run) };
      };
    },

    /** The same requester, in whose name a rule now acts. */
    forRule({ requester, chain }: Actor, rule: number): Requester {
      const acts = Object.freeze({ ...requester });
      chains.set(acts, new Set([...chain, rule]));
      return acts;
    },

    /** Who acts now: logic's requester, else that of Strapi's own request; anonymous where code acts by itself. */
    async now(): Promise<Actor> {
      const actor = acting.getStore();
      if (actor) return actor;
      const state = strapi.requestContext.get()?.state as { auth?: StrapiAuth; user?: unknown } | undefined;
      const requester = await requesters.fromStrapi(state ?? {}).catch((error: unknown) => {
        // Strapi lets users whose role was deleted act as the public does.
        if (isAppsError(error, 'UnauthorizedError')) return requesters.anonymous();
        throw error;
      });
      return { requester, chain: noRules };
    },
  };
}

export type Acting = ReturnType<typeof createActing>;
