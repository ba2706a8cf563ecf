import { AppsError } from '../common/errors';
import { secretOf } from './secrets';
import type { Outbound, OutboundAnswer, OutboundRequest } from './types';

/** Answers the calls of an app in place of other hosts; null: it has no answer. */
export type Answerer = (appId: string, request: OutboundRequest) => OutboundAnswer | null;

/** Signs the webhooks of a test whose configuration lacks the secret. */
const SECRET = `whsec_${Buffer.from('tests of apps sign with this').toString('base64')}`;

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
    secret: (name) => (answerer() ? (secretOf(outbound, name) ?? SECRET) : outbound.secret(name)),
    async call(appId, request) {
      const find = answerer();
      if (!find) return outbound.call(appId, request);
      const answer = find(appId, request);
      if (answer) return answer;
      const { method, url } = request;
      throw new AppsError(
        'BadRequestError',
        `The test has no answer for ${method} ${url}: give one with app.fetch.answer`,
      );
    },
  };
}
