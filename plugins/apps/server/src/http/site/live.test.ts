import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { expect, test, vi } from 'vitest';
import type { LiveChanges, LiveConnection } from '../../events';
import { answerLive } from './live';

test('a client that does not read is disconnected', async () => {
  const disconnect = vi.fn();
  const connections: LiveConnection[] = [];
  const live = {
    position: () => 'process_.1',
    async connect(_address: string, _tokens: readonly string[], connection: LiveConnection) {
      connections.push(connection);
      return { ready: Promise.resolve(), disconnect };
    },
  } as unknown as LiveChanges;
  const server = createServer(new Koa().use((ctx) => answerLive(ctx, live)).callback()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const request = get(`http://127.0.0.1:${port}/?t=${'t'.repeat(20)}`);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.on('error', () => undefined).pause();
  const open = () => new Promise((resolve) => server.getConnections((_, count) => resolve(count)));
  expect(await open()).toBe(1);
  for (let at = 0; at < 100; at += 1) connections[0]?.send('x'.repeat(2_000));
  await expect.poll(open).toBe(0);
  await expect.poll(() => disconnect.mock.calls.length).toBe(1);
  server.close();
});
