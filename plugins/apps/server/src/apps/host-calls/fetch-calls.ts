import { AppsError } from '../../common/errors';
import type { HostArguments } from '../../logic/types';
import type { OutboundRequest } from '../../outbound/types';
import { callOut } from '../run/calls-out';
import { originalOf } from '../run/observed';
import type { Run, Visit } from '../run/types';
import type { HostCallHandlers } from './handlers';

/** How a secret is named (docs/reference/calls-out.md#secrets). */
const SECRET = '{{secret:';

/** The host function for calls out. */
export function fetchCalls(run: Run): Pick<HostCallHandlers, 'fetch'> {
  return {
    fetch(args) {
      const { visit, app } = run;
      // What a web service says may change at any time.
      visit.inputs?.refuse('fetch');
      const request = requestOf(visit, args);
      requireReading(visit, request);
      return run.calls.once(JSON.stringify([app.id, request]), () => callOut(run, request));
    },
  };
}

/**
 * The call to send: an object or a list is JSON, and says so unless the call itself says what it is. BadRequestError where
 * a visitor has named a secret.
 */
export function requestOf(visit: Visit, { url, options }: HostArguments<'fetch'>): OutboundRequest {
  const { method = 'GET', headers = {}, body = null, timeout = null } = options;
  const isText = body === null || typeof body === 'string';
  const hasType = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type');
  const request: OutboundRequest = {
    url,
    method,
    headers: isText || hasType ? headers : { ...headers, 'content-type': 'application/json' },
    body: isText ? body : JSON.stringify(body),
    timeout,
  };
  requireOwnSecrets(visit, request);
  return request;
}

/** A call that may change something elsewhere is refused while writes are switched off, as changes of content are. */
function requireReading({ dry }: Visit, { method }: OutboundRequest): void {
  if (!dry || ['GET', 'HEAD'].includes(method.toUpperCase())) return;
  throw new AppsError('ForbiddenError', `Writes are switched off: a call with ${method.slice(0, 20)} was not made`);
}

/**
 * BadRequestError for a call with a secret whose request holds the name of one: what a visitor has sent must not become a secret in a
 * text that others read.
 */
function requireOwnSecrets({ request, params }: Visit, { headers, body }: OutboundRequest): void {
  if (![body, ...Object.values(headers)].some((text) => text?.includes(SECRET))) return;
  const { path, query, form, body: sent } = originalOf(request);
  if (JSON.stringify([path, query, form, sent, params]).includes(SECRET))
    throw new AppsError('BadRequestError', `What was sent holds "${SECRET}": no secret is put into this call`);
}
