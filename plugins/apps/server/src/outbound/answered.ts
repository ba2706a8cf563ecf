import type { Outbound, OutboundAnswer, OutboundRequest } from './types';

/** Answers the calls of an app in place of other hosts; what it throws is the failure of the request. */
export type Answerer = (appId: string, request: OutboundRequest) => OutboundAnswer;

/**
 * Calls out that tests of apps answer: while there is an answerer, nothing is sent, and neither hosts nor secrets of the configuration
 * are asked for (docs/reference/app-tests.md#web-services).
 */
export function answered(outbound: Outbound, answerer: () => Answerer | null): Outbound {
  return {
    ...outbound,
    check(appId, request) {
      if (!answerer()) outbound.check(appId, request);
    },
    async call(appId, request) {
      const answer = answerer();
      return answer ? answer(appId, request) : outbound.call(appId, request);
    },
  };
}
