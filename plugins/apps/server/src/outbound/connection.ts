import { type LookupOptions, lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { isPublic } from './addresses';
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
