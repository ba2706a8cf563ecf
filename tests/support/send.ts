import * as http from 'node:http';
import * as https from 'node:https';

/** Credentials of a client. */
export type Credential =
  | { bearer: string }
  | { basic: [username: string, password: string] }
  | { cookie: string }
  | null;

/** One HTTP request, as it goes over the wire: unlike fetch, nothing of the path is normalised. */
export interface Message {
  method: string;
  /** Raw path with query, from the leading slash on. */
  path: string;
  as?: Credential;
  headers?: Record<string, string>;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as a form; a list is sent as several fields of one name. */
  form?: Record<string, string | string[]>;
  /** Sent unchanged. */
  body?: string | Buffer;
}

export interface Answer<T = unknown> {
  status: number;
  headers: http.IncomingHttpHeaders;
  bytes: Buffer;
  text: string;
  /** The parsed body, undefined when it is not JSON. */
  json: T;
}

/** A connection for each request: a kept one that the server has just closed would look like a failing server. */
const connections = { keepAlive: false, maxSockets: 64 };
const plain = { request: http.request, agent: new http.Agent(connections) };
/** Of a proxy, whose certificate the test has made. */
const secure = { request: https.request, agent: new https.Agent({ ...connections, rejectUnauthorized: false }) };

export type Headers = Record<string, string>;

export const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });
/** Of a text such as `anna:password`. */
export const basic = (text: string): Headers => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });
export const cookie = (text: string): Headers => ({ cookie: text });

/** The `Authorization` or `Cookie` header of a credential; Basic joined by a dot, as the interface says. */
export function credentialHeaders(credential: Credential): Headers {
  if (!credential) return {};
  if ('bearer' in credential) return bearer(credential.bearer);
  if ('cookie' in credential) return cookie(credential.cookie);
  return basic(credential.basic.join('.'));
}

/** The address in an answer's `Location`. */
export const locationOf = ({ headers }: Answer): URL => new URL(String(headers.location));

function formText(form: Record<string, string | string[]>): string {
  const fields = new URLSearchParams();
  for (const [name, value] of Object.entries(form)) {
    for (const one of [value].flat()) fields.append(name, one);
  }
  return fields.toString();
}

function payload({ json, form, body }: Message): { type?: string; body?: string | Buffer } {
  if (json !== undefined) return { type: 'application/json', body: JSON.stringify(json) };
  if (form) return { type: 'application/x-www-form-urlencoded', body: formText(form) };
  return { body };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type Observer = (origin: string, message: Message, answer: Answer) => Promise<void>;

const observers = new Set<Observer>();

/** Calls the observer with each answer, before the sender gets it; its error becomes the sender's. Returns what ends it. */
export function observeAnswers(observer: Observer): () => void {
  observers.add(observer);
  return () => void observers.delete(observer);
}

/** Sends a request to the host at `origin`; follows no redirect. Headers given explicitly win. */
export async function send<T = unknown>(origin: string, message: Message): Promise<Answer<T>> {
  const answer = await exchange<T>(origin, message);
  for (const observer of observers) await observer(origin, message, answer);
  return answer;
}

function exchange<T>(origin: string, message: Message): Promise<Answer<T>> {
  const { protocol, hostname, port } = new URL(origin);
  const { request, agent } = protocol === 'https:' ? secure : plain;
  const { type, body } = payload(message);
  const headers: Record<string, string> = {
    ...(type ? { 'content-type': type } : {}),
    ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
    ...credentialHeaders(message.as ?? null),
    ...message.headers,
  };
  return new Promise((resolve, reject) => {
    const sent = request({ agent, hostname, port, path: message.path, method: message.method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const bytes = Buffer.concat(chunks);
        const text = bytes.toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes, text, json: parse(text) as T });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
