import { type LookupOptions, lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Agent, buildConnector, type Dispatcher, request as send } from 'undici';
import type { FetchConfig } from '../config.types';
import {
  badGateway,
  bodyEncoding,
  createHosts,
  createSecrets,
  failureOf,
  type Hosts,
  hostOf,
  refusal,
  type Secrets,
  tookTooLong,
} from './hosts';
import {
  acceptedEncodings,
  type CheckedCall,
  checkRequest,
  nextDraft,
  readText,
  requireSize,
  shownHeaders,
} from './request';
import type { Outbound, OutboundAnswer, OutboundRequest } from './types';

/** What tests replace. */
interface ConnectionOptions {
  /** The resolver; the system's by default. */
  lookup?: LookupFunction;
  /** Makes what opens sockets, of the resolver that it has to ask; undici's by default. */
  connector?: (lookup: LookupFunction) => buildConnector.connector;
}

const notPrivate = () =>
  refusal('fetch.private', 'does not name this host and port, whose address is not a public one');

/**
 * Opens connections, one for each request. The address that was checked is the one that is connected to: undici's connector
 * gets it from `lookup`, and asks no resolver again (docs/decisions/calls-out.md).
 */
function createConnections(hosts: Hosts, timeout: number, options: ConnectionOptions): Agent {
  const {
    lookup = systemLookup as LookupFunction,
    connector = (resolver: LookupFunction) => buildConnector({ lookup: resolver, timeout }),
  } = options;
  const open = connector(lookup);
  const guarded = connector(checked(lookup));
  return new Agent({
    // No connection is used twice: none is stale, and none of one app is another's.
    pipelining: 0,
    headersTimeout: timeout,
    bodyTimeout: timeout,
    connect(target, callback) {
      const name = target.hostname.replace(/^\[|\]$/g, '');
      const isOpen = hosts.isPrivate(addressOf(target));
      // An address as the host's name is never looked up.
      if (!isOpen && isIP(name) !== 0 && !isPublic(name)) return callback(notPrivate(), null);
      return (isOpen ? open : guarded)({ ...target, hostname: name }, callback);
    },
  });
}

function addressOf({ protocol, hostname, port }: buildConnector.Options): URL {
  const name = hostname.includes(':') && !hostname.startsWith('[') ? `[${hostname}]` : hostname;
  return new URL(`${protocol}//${name}${port ? `:${port}` : ''}/`);
}

/** A resolver that refuses a name with any address that is not public. */
function checked(lookup: LookupFunction): LookupFunction {
  return (hostname, options, callback) => {
    const all: LookupOptions = { ...options, all: true };
    lookup(hostname, all, (error, found) => {
      if (error) return callback(error, []);
      const addresses = Array.isArray(found) ? found : [{ address: found, family: isIP(found) }];
      if (addresses.length === 0 || addresses.some(({ address }) => !isPublic(address)))
        return callback(notPrivate(), []);
      const [first] = addresses;
      return options.all ? callback(null, addresses) : callback(null, first?.address ?? '', first?.family);
    });
  };
}

/** All addresses of IPv6 that are given to networks of the Internet: what lies outside is local, reserved or translated. */
const globalUnicast = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];

/** Addresses of a cloud's metadata service that lie in a public network: Azure's. */
const metadata: ReadonlySet<string> = new Set(['168.63.129.16']);

/**
 * Whether an address belongs to the public Internet. False for private, loopback, link-local, metadata, shared (CGNAT),
 * multicast, reserved, unspecified, documentation and unique local addresses, for those that stand for an IPv4 address
 * (mapped, compatible, translated, 6to4, Teredo), and for text that is no address in its usual form.
 */
export function isPublic(address: string): boolean {
  // ipaddr.js also reads octal, hexadecimal and short forms, which no resolver gives.
  if (isIP(address) === 0 || metadata.has(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed instanceof ipaddr.IPv4 || (parsed as ipaddr.IPv6).match(globalUnicast);
}

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
    const draft = checkRequest(request, config);
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
  draft: CheckedCall,
  outer: AbortSignal | undefined,
  work: (draft: CheckedCall, signal: AbortSignal) => Promise<OutboundAnswer>,
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

/** Statuses of answers without a body. */
const WITHOUT_BODY = new Set([204, 304]);

/** Sends the request, and those that its answers redirect to; each is checked like the first. */
async function follow(appId: string, first: CheckedCall, parts: Parts, signal: AbortSignal): Promise<OutboundAnswer> {
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
      // Others have the encoding of a body that does not come: an empty text cannot be decoded.
      const hasBody = draft.method !== 'HEAD' && !WITHOUT_BODY.has(statusCode);
      const text = await readText(body, hasBody ? headers : {}, parts.config.size);
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
function filled({ url, headers, body, isExact }: CheckedCall, { secrets: { fill: fillIn }, config }: Parts) {
  const host = hostOf(url);
  const fill: typeof fillIn = isExact ? (text) => text : fillIn;
  const sent: Record<string, string> = { accept: '*/*', 'user-agent': 'strapi-plugin-apps' };
  for (const [name, value] of headers) sent[name] = fill(value, host, (secret) => secret);
  const text = body === null ? null : fill(body, host, bodyEncoding(headers.get('content-type')));
  if (text !== null) requireSize(text, config.size);
  return { headers: { ...sent, 'accept-encoding': acceptedEncodings }, body: text };
}
