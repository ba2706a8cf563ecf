import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll } from 'vitest';

/** What another server has got. */
export interface Delivery {
  path: string;
  headers: Record<string, string>;
  text: string;
  /** The parsed body. */
  json: Body;
  /** `Date.now()` at its arrival. */
  at: number;
}

interface Body {
  type?: string;
  timestamp?: string;
  data?: { site: string; app: string; block: string | null; id: string; path: string; items: Record<string, unknown> };
  [key: string]: unknown;
}

/** How another server answers: a status with a text, or a function that does it. */
export type Reply =
  | { status: number; text?: string; headers?: Record<string, string> }
  | ((response: ServerResponse) => void);

export interface Receiver {
  readonly host: string;
  url(path: string): string;
  /** Deliveries to a path, in their order. */
  at(path: string): Delivery[];
  /** Answers the next requests to a path so, one after the other; then with 204. */
  answers(path: string, ...replies: Reply[]): void;
  /** Forgets what has come. */
  clear(): void;
}

/** Throws unless the library verifies a delivery. */
export function verified(secret: string, { text, headers }: Delivery): unknown {
  return new Webhook(secret).verify(text, headers, { jsonParse: false });
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** Another server on 127.0.0.1, which notes what it gets. */
export function useReceiver(): Receiver {
  const deliveries: Delivery[] = [];
  const replies = new Map<string, Reply[]>();
  let server: Server;

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { url: path = '' } = request;
    const text = await textOf(request);
    const json = text.startsWith('{') ? JSON.parse(text) : {};
    deliveries.push({ path, headers: request.headers as Record<string, string>, text, json, at: Date.now() });
    const reply = replies.get(path)?.shift() ?? { status: 204 };
    if (typeof reply === 'function') return reply(response);
    response.writeHead(reply.status, reply.headers).end(reply.text);
  };

  beforeAll(async () => {
    server = createServer((request, response) => void answer(request, response));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const host = () => `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    get host() {
      return host();
    },
    url: (path) => `http://${host()}${path}`,
    at: (path) => deliveries.filter((one) => one.path === path),
    answers: (path, ...given) => void replies.set(path, given),
    clear() {
      deliveries.length = 0;
      replies.clear();
    },
  };
}
