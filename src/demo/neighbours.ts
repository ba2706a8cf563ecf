import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Core } from '@strapi/strapi';

/** The part of the plugin's configuration that says where the neighbours are (config/plugins.ts). */
interface FetchConfig {
  private?: string[];
  secrets?: { screen?: { value?: string } };
}

/** Seconds by which the time of a message may differ (https://www.standardwebhooks.com). */
const TOLERANCE = 300;

/** Messages that the screen shows, and bytes of one. */
const MAX_MESSAGES = 20;
const MAX_BODY = 100_000;

/** The postal codes that the service knows. */
const towns: Record<string, string> = {
  '04103': 'Leipzig',
  '04177': 'Lindenau',
  '04179': 'Leutzsch',
  '04205': 'Grünau',
  '04229': 'Plagwitz',
};

/** What the screen has received: the latest messages whose signatures are right, and the number of those that were refused. */
interface Screen {
  messages: { id: string; at: string; body: unknown }[];
  refused: number;
}

/**
 * Two other programs that the demo speaks with, as small as they can be: a screen in the staff room, which takes webhooks at
 * `POST /screen` and says at `GET /screen` what it has received; and a service of postal codes, `GET /codes/<code>`. They listen on
 * the loopback interface while the server does; their messages are in memory.
 */
export function startNeighbours(strapi: Core.Strapi): void {
  const { private: hosts = [], secrets } = strapi.config.get<FetchConfig>('plugin::apps.fetch', {});
  const [hostname, port] = hosts[0]?.split(':') ?? [];
  const secret = secrets?.screen?.value;
  if (!hostname || !port || !secret) return;
  const screen: Screen = { messages: [], refused: 0 };
  const server = createServer((request, response) => void answer(request, response, screen, secret));
  server.on('error', ({ message }) => strapi.log.warn(`The demo's neighbours do not answer: ${message}`));
  // Not in a command, which has no server: before its first jobs are done.
  strapi.server.httpServer.prependOnceListener('listening', () => server.listen(Number(port), hostname));
  strapi.server.httpServer.once('close', () => {
    server.closeAllConnections();
    server.close();
  });
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  screen: Screen,
  secret: string,
): Promise<void> {
  const say = (status: number, body?: unknown) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(body && JSON.stringify(body));
  const { method, url = '', headers } = request;
  const [, code = ''] = /^\/codes\/(\d{5})$/.exec(url) ?? [];
  if (method === 'GET' && code) return void (towns[code] ? say(200, { town: towns[code] }) : say(404));
  if (url !== '/screen') return void say(404);
  if (method === 'GET') return void say(200, screen);
  try {
    say(receive(screen, headers, await textOf(request), secret) ? 204 : 401);
  } catch {
    say(400);
  }
}

/** Shows a message if its signature is right; one that is sent again stays one. @returns whether it is right */
function receive(screen: Screen, headers: IncomingHttpHeaders, text: string, secret: string): boolean {
  if (!isSigned(headers, text, secret)) {
    screen.refused += 1;
    return false;
  }
  const id = String(headers['webhook-id']);
  const message = { id, at: new Date().toISOString(), body: JSON.parse(text) as unknown };
  screen.messages = [message, ...screen.messages.filter((one) => one.id !== id)].slice(0, MAX_MESSAGES);
  return true;
}

/** Whether a message is signed as Standard Webhooks says; a program of your own uses its library. */
function isSigned(headers: IncomingHttpHeaders, text: string, secret: string): boolean {
  const [id, time, signatures] = ['id', 'timestamp', 'signature'].map((name) => String(headers[`webhook-${name}`]));
  if (!(Math.abs(Date.now() / 1000 - Number(time)) <= TOLERANCE)) return false;
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const digest = createHmac('sha256', key).update(`${id}.${time}.${text}`).digest('base64');
  const right = Buffer.from(`v1,${digest}`);
  const given = String(signatures)
    .split(' ')
    .map((one) => Buffer.from(one));
  return given.some((one) => one.length === right.length && timingSafeEqual(one, right));
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY) throw new Error('too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
