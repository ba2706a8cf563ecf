import type { IncomingMessage } from 'node:http';
import { Readable, Writable } from 'node:stream';
import type { Core } from '@strapi/strapi';
import type { Context, Middleware, Next } from 'koa';
import { AppsError, isAppsError } from '../errors';
import { hasBody, received } from './body';
import type { DoorServices } from './exchange';
import { isOurs, mediaType, prefersJson } from './negotiate';
import { isChecked, keepBody } from './raw-body';
import { respondError } from './respond-error';

interface ParserConfig {
  formidable?: object;
  [key: string]: unknown;
}

/** What makes a middleware of Strapi out of its part of `config/middlewares`. */
type MiddlewareFactory = (config: ParserConfig, tools: { strapi: Core.Strapi }) => Middleware;

/** Milliseconds for which the rest of a refused body is read and dropped, so that the client sees the answer. */
const LINGER = 5_000;

/**
 * Wraps Strapi's body parser (`strapi::body`) for the plugin's addresses. There no body is larger than
 * `limits.bodySize`, whatever the host's configuration takes elsewhere, and no part of a form is written to a file:
 * Strapi's parser puts every uploaded file into the temporary folder and removes few of them.
 * A body that is too large is answered with 413: by its Content-Length before anything is read, a chunked one while it
 * is read. NDJSON is not read here (`bulk.ts` does).
 * @param running the plugin's services once it has started
 */
export function boundedBodies(parser: MiddlewareFactory, running: () => DoorServices | undefined): MiddlewareFactory {
  return (config, tools) => {
    const parseForHost = parser(config, tools);
    let parse: Middleware | undefined;
    return async (ctx: Context, next: Next) => {
      const services = running();
      if (!services || !hasBody(ctx) || !isOurs(services.sites, ctx.path)) return parseForHost(ctx, next);
      const limit = services.config.limits.bodySize;
      parse ??= parser(boundedConfig(config, limit), tools);
      let parsed = ctx;
      try {
        parsed = await boundedContext(ctx, limit);
      } catch (error) {
        if (!isAppsError(error)) throw error;
        ctx.state.appsAnswered = true;
        closeUnlessEnded(ctx.req);
        return respondError(ctx, error, { json: prefersJson(ctx), details: false, logger: services.logger });
      }
      return parse(parsed, next);
    };
  };
}

/** The parser's configuration: the host's, with the plugin's limits, and with files that are dropped. */
function boundedConfig(config: ParserConfig, limit: number): ParserConfig {
  const formidable = {
    ...config.formidable,
    maxFileSize: limit,
    maxFieldsSize: limit,
    fileWriteStreamHandler: () => new Writable({ write: (_chunk, _encoding, done) => done() }),
  };
  return { ...config, jsonLimit: limit, formLimit: limit, textLimit: limit, formidable };
}

/**
 * The context for the parser. A body is read to its end first, and the parser gets its bytes: the form parser counts the
 * contents of parts only, and no parser says what it could not read. PayloadTooLargeError.
 */
async function boundedContext(ctx: Context, limit: number): Promise<Context> {
  const type = mediaType(ctx);
  if (type === 'application/x-ndjson') return ctx;
  if (Number(ctx.get('Content-Length') || 0) > limit) throw tooLarge(limit);
  if (!type.startsWith('multipart/') && !isChecked(type)) return ctx;
  const body = await readBody(ctx.req, limit);
  keepBody(ctx.req, body);
  const request = Object.assign(Readable.from([body], { objectMode: false }), { headers: ctx.req.headers });
  return Object.create(ctx, { req: { value: request } }) as Context;
}

async function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of received(request)) {
    size += chunk.length;
    if (size > limit) throw tooLarge(limit);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function tooLarge(limit: number): AppsError {
  return new AppsError('PayloadTooLargeError', `The body is larger than ${limit} bytes`);
}

/** Node.js drops what is left of a body after the answer; a client that goes on sending for too long is cut off. */
export function closeUnlessEnded(request: IncomingMessage): void {
  const timer = setTimeout(() => request.destroy(), LINGER);
  request.once('close', () => clearTimeout(timer));
}
