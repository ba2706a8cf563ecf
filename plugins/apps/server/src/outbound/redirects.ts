import { isAppsError } from '../common/errors';
import { badGateway } from './failures';
import { hostOf } from './hosts';
import { type Draft, urlOf } from './request';
import { namesSecret } from './secrets';

const redirecting: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Headers that are for the first host only. */
const credentials: ReadonlySet<string> = new Set(['authorization', 'cookie']);

/** Headers about a body, dropped with it. */
const aboutBody = /^content-/;

/**
 * The request that an answer redirects to, as the fetch standard makes it; null for an answer that is the last. BadGatewayError for
 * an address that no call can have.
 */
export function nextDraft(draft: Draft, status: number, location: string | string[] | undefined): Draft | null {
  if (!redirecting.has(status) || typeof location !== 'string' || location === '') return null;
  const url = target(location, draft.url);
  const { method } = draft;
  const becomesGet = (status === 303 && method !== 'GET' && method !== 'HEAD') || (status <= 302 && method === 'POST');
  const isSameHost = url.protocol === draft.url.protocol && hostOf(url) === hostOf(draft.url);
  const headers = [...draft.headers].filter(
    ([name, value]) =>
      !(becomesGet && aboutBody.test(name)) && (isSameHost || !(credentials.has(name) || namesSecret(value))),
  );
  return {
    ...draft,
    url,
    headers: new Map(headers),
    ...(becomesGet ? { method: 'GET', body: null } : {}),
  };
}

function target(location: string, base: URL): URL {
  try {
    return urlOf(location, base);
  } catch (error) {
    if (!isAppsError(error)) throw error;
    throw badGateway('it redirects to an address that cannot be called');
  }
}
