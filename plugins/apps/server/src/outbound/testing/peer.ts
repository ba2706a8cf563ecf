import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, isIP, type LookupFunction } from 'node:net';
import { onTestFinished } from 'vitest';
import type { FetchConfig } from '../../config.types';
import { createOutbound, type OutboundOptions } from '../calls';
import type { OutboundRequest } from '../types';

/** What a fake host was asked. */
export interface Received {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

/** A fake host on this machine, until the test ends. */
export interface Peer {
  /** `127.0.0.1:41234`. */
  host: string;
  port: number;
  received: Received[];
}

export type Answer = (request: Received, response: ServerResponse) => void;

/** Starts a fake host. @param address one of 127.0.0.0/8, or ::1 */
export async function startPeer(answer: Answer, address = '127.0.0.1'): Promise<Peer> {
  const received: Received[] = [];
  const listener: RequestListener = async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = '', url = '', headers } = request;
    const one = { method, url, headers, body: Buffer.concat(chunks).toString() };
    received.push(one);
    answer(one, response);
  };
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { host: `${address.includes(':') ? `[${address}]` : address}:${port}`, port, received };
}

/** A resolver that knows these names only, and counts how often it was asked. */
export function resolver(names: Record<string, string | string[]>): { lookup: LookupFunction; asked: string[] } {
  const asked: string[] = [];
  const lookup: LookupFunction = (name, options, callback) => {
    asked.push(name);
    const found = names[name];
    if (found === undefined) return callback(Object.assign(new Error('unknown'), { code: 'ENOTFOUND' }), []);
    const all = [found].flat().map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    return options.all ? callback(null, all) : callback(null, all[0]?.address ?? '', all[0]?.family);
  };
  return { lookup, asked };
}

/** Calls out with a configuration of the app `shop`, until the test ends. */
export function outbound(config: Partial<FetchConfig>, options: OutboundOptions = {}) {
  const all = { hosts: {}, private: [], secrets: {}, timeout: 2000, size: 100_000, ...config };
  const made = createOutbound(all, options);
  onTestFinished(() => made.destroy());
  return made;
}

export const get = (url: string, more: Partial<OutboundRequest> = {}): OutboundRequest => ({
  url,
  method: 'GET',
  headers: {},
  body: null,
  timeout: null,
  ...more,
});

/**
 * A connector that asks its resolver, notes where it would connect to, and connects to a fake host instead: nothing leaves this machine.
 */
export function recorder(port: number): { connector: NonNullable<OutboundOptions['connector']>; connected: string[] } {
  const connected: string[] = [];
  const connector: NonNullable<OutboundOptions['connector']> = (lookup) => (target, callback) => {
    const open = (address: string) => {
      connected.push(`${address} ${target.port || '443'}`);
      const socket = connect({ host: '127.0.0.1', port });
      socket.once('connect', () => callback(null, socket)).once('error', (error) => callback(error, null));
    };
    if (isIP(target.hostname)) return open(target.hostname);
    lookup(target.hostname, { all: false }, (error, address) => {
      if (error) callback(error, null);
      else open(String(address));
    });
  };
  return { connector, connected };
}
