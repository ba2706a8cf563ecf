import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';

/** A proxy in front of several servers, which asks them in turn over kept connections, as nginx does with `deploy/nginx/site.conf`. */
export interface Balancer {
  readonly origin: string;
  /** The origins of the servers; may be changed at any time. */
  servers: string[];
  /** Answers that each server has given. */
  answers: Map<string, number>;
  stop(): Promise<void>;
}

/** Another server may be asked: nothing was sent, or the request changes nothing. */
const mayAskAgain = ({ code }: NodeJS.ErrnoException, { method = '' }: IncomingMessage) =>
  code === 'ECONNREFUSED' || method === 'GET';

export async function startBalancer(): Promise<Balancer> {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 32 });
  let turn = 0;

  function pass(server: string, asked: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
    const { method, url: path, headers } = asked;
    const { hostname, port } = new URL(server);
    return new Promise((resolve, reject) => {
      request({ agent, hostname, port, method, path, headers }, resolve).on('error', reject).end(body);
    });
  }

  async function answer(asked: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of asked) chunks.push(chunk as Buffer);
    const first = balancer.servers[turn++ % balancer.servers.length] as string;
    let failed: Error | undefined;
    for (const server of [first, ...balancer.servers.filter((one) => one !== first)]) {
      try {
        const given = await pass(server, asked, Buffer.concat(chunks));
        const { connection, 'keep-alive': _keep, ...headers } = given.headers;
        balancer.answers.set(server, (balancer.answers.get(server) ?? 0) + 1);
        response.writeHead(given.statusCode ?? 0, headers);
        // A stream ends with its server, or its client.
        pipeline(given, response, () => undefined);
        return;
      } catch (error) {
        failed = error as Error;
        if (!mayAskAgain(failed, asked)) break;
      }
    }
    response.writeHead(502).end(String(failed));
  }

  const server = createServer((asked, response) => void answer(asked, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const balancer: Balancer = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    servers: [],
    answers: new Map(),
    async stop() {
      agent.destroy();
      server.closeAllConnections();
      server.close();
    },
  };
  return balancer;
}
