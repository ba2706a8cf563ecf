import { type LookupOptions, lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Agent, buildConnector } from 'undici';
import { type Hosts, refusal } from './hosts';

/** What tests replace. */
export interface ConnectionOptions {
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
export function createConnections(hosts: Hosts, timeout: number, options: ConnectionOptions): Agent {
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
