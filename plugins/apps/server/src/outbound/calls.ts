import { type Dispatcher, request as send } from 'undici';
import type { FetchConfig } from '../config.types';
import { acceptedEncodings, readText, shownHeaders } from './answer';
import { type ConnectionOptions, createConnections } from './connection';
import { badGateway, failureOf, tookTooLong } from './failures';
import { createHosts, type Hosts, hostOf } from './hosts';
import { nextDraft } from './redirects';
import { type Draft, draftOf, requireSize } from './request';
import { bodyEncoding, createSecrets, type Secrets } from './secrets';
import type { Outbound, OutboundAnswer, OutboundRequest } from './types';

/** Redirects that one call follows. */
const MAX_REDIRECTS = 5;

export type OutboundOptions = ConnectionOptions;

interface Parts {
  config: FetchConfig;
  hosts: Hosts;
  secrets: Secrets;
  connections: Dispatcher;
}

/** @param options replaces the network in tests */
export function createOutbound(config: FetchConfig, options: OutboundOptions = {}): Outbound {
  const hosts = createHosts(config);
  const secrets = createSecrets(config.secrets);
  const connections = createConnections(hosts, config.timeout, options);
  const parts: Parts = { config, hosts, secrets, connections };
  const prepared = (appId: string, request: OutboundRequest) => {
    const draft = draftOf(request, config);
    hosts.require(appId, draft.url, false);
    filled(draft, parts);
    return draft;
  };
  return {
    check(appId, request) {
      prepared(appId, request);
    },
    async call(appId, request) {
      request.signal?.throwIfAborted();
      return inTime(prepared(appId, request), request.signal, (draft, signal) => follow(appId, draft, parts, signal));
    },
    secret: secrets.get,
    destroy: () => connections.destroy(),
  };
}

/** Runs the call until its time is over or the caller's signal is aborted. */
async function inTime(
  draft: Draft,
  outer: AbortSignal | undefined,
  work: (draft: Draft, signal: AbortSignal) => Promise<OutboundAnswer>,
): Promise<OutboundAnswer> {
  const controller = new AbortController();
  const late = tookTooLong(draft.timeout);
  const timer = setTimeout(() => controller.abort(late), draft.timeout);
  const abort = () => controller.abort(outer?.reason);
  outer?.addEventListener('abort', abort, { once: true });
  try {
    return await work(draft, controller.signal);
  } catch (error) {
    // What ends the call first decides: later errors follow from it.
    if (controller.signal.aborted) throw controller.signal.reason;
    throw failureOf(error, draft.timeout);
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener('abort', abort);
    // A connection that is still read, such as that of a refused answer, ends too.
    controller.abort();
  }
}

/** Sends the request, and those that its answers redirect to; each is checked like the first. */
async function follow(appId: string, first: Draft, parts: Parts, signal: AbortSignal): Promise<OutboundAnswer> {
  const called = new Set<string>();
  let draft = first;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    called.add(hostOf(draft.url));
    const { statusCode, headers, body } = await send(draft.url, {
      dispatcher: parts.connections,
      method: draft.method as Dispatcher.HttpMethod,
      signal,
      ...filled(draft, parts),
    });
    const next = draft.isExact ? null : nextDraft(draft, statusCode, headers.location);
    if (!next) {
      const text = await readText(body, headers, parts.config.size);
      const hide = parts.secrets.hider(called);
      return { status: statusCode, headers: shownHeaders(headers, hide), text: hide(text) };
    }
    body.on('error', () => undefined).destroy();
    parts.hosts.require(appId, next.url, true);
    draft = next;
  }
  throw badGateway(`it redirects more than ${MAX_REDIRECTS} times`);
}

/** Headers and body as they are sent: with secrets, and with the headers that belong to the server. */
function filled({ url, headers, body, isExact }: Draft, { secrets: { fill: fillIn }, config }: Parts) {
  const host = hostOf(url);
  const fill: typeof fillIn = isExact ? (text) => text : fillIn;
  const sent: Record<string, string> = { accept: '*/*', 'user-agent': 'strapi-plugin-apps' };
  for (const [name, value] of headers) sent[name] = fill(value, host, (secret) => secret);
  const text = body === null ? null : fill(body, host, bodyEncoding(headers.get('content-type')));
  if (text !== null) requireSize(text, config.size);
  return { headers: { ...sent, 'accept-encoding': acceptedEncodings }, body: text };
}
