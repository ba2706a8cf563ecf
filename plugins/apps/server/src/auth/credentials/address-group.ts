import { isIPv6 } from 'node:net';

/**
 * The key under which one client's requests are counted: an IPv4 address, or the first 64 bits of an IPv6 address, because
 * one connection has the whole /64 network.
 * @param ip as Koa gives it (`ctx.ip`); behind a proxy that needs Strapi's `server.proxy.koa`
 * @returns a short text; text that is no address is returned unchanged
 */
export function addressGroup(ip: string): string {
  const [address = ''] = ip.split('%');
  if (!isIPv6(address)) return ip;
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? [];
  if (mapped !== undefined) return mapped;
  const [front = '', back] = address.split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':'));
  const [before, after] = [groups(front), groups(back ?? '')];
  // A dotted end stands for two groups; it never reaches into the first four.
  const length = before.length + after.length + (address.includes('.') ? 1 : 0);
  const zeros = back === undefined ? 0 : 8 - length;
  const all = [...before, ...Array<string>(zeros).fill('0'), ...after];
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}
