import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

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
