import { rm } from 'node:fs/promises';
import { Readable, Writable } from 'node:stream';
import type { Core } from '@strapi/strapi';
import type { Context, Middleware, Next } from 'koa';
import { AppsError, bodyTooLarge, type ErrorName, isAppsError } from '../../common/errors';
import { expectWork, shortWork } from '../../common/time/pace';
import {
  closeUnlessEnded,
  defersForm,
  hasBody,
  isChecked,
  keepBody,
  MAX_FIELDS,
  plainJson,
  readBytes,
} from '../request/body';
import type { HttpServices } from '../request/exchange';
import { isOurs } from '../request/locate';
import { fileFormat, mediaType } from '../request/negotiate';
import { earlyView, respondError } from '../response/respond-error';

interface ParserConfig {
  formidable?: object;
  /** Methods whose bodies are read; Strapi's default is POST, PUT and PATCH. */
  parsedMethods?: unknown;
  [key: string]: unknown;
}

/** Strapi's factory of a middleware, called with its part of `config/middlewares`. */
type MiddlewareFactory = (config: ParserConfig, tools: { strapi: Core.Strapi }) => Middleware;

/**
 * Wraps Strapi's body parser (`strapi::body`) for the plugin's addresses. There no body is larger than `limits.bodySize`,
 * even if the host's configuration allows more, and no part of a form is written to a file: Strapi's parser puts every
 * uploaded file into the temporary folder and leaves most of them there. A body that is too large is answered with 413: by
 * its Content-Length before it is read, or while it is read if it is chunked. What it leaves of a request to the panel's
 * addresses is removed after the answer, from any sender and whether or not there is such an address. Files of records are not read here (`bulk.ts` does),
 * nor forms of blocks with files (`read-body.ts` does, once their limits are known).
 * @param running the plugin's services once it has started
 */
export function boundedBodies(parser: MiddlewareFactory, running: () => HttpServices | undefined): MiddlewareFactory {
  return (config, tools) => {
    const parseForHost = parser(config, tools);
    let parse: Middleware | undefined;
    const isUnread = (ctx: Context) => config.parsedMethods === undefined && unread.has(ctx.method) && !hasBody(ctx);
    return async (ctx: Context, next: Next) => {
      const services = running();
      if (!services || !isOurs(ctx, services.sites))
        return PANEL.test(ctx.path) ? withoutLeftovers(ctx, parseForHost, next) : parseForHost(ctx, next);
      if (isUnread(ctx)) return withBody(ctx, {}, next);
      if (!hasBody(ctx)) return parseForHost(ctx, next);
      if (fileFormat(ctx)) return withBody(ctx, {}, next);
      if (defersForm(ctx)) return next();
      const maxSize = services.config.limits.bodySize;
      parse ??= parser(boundedConfig(config, maxSize), tools);
      let body: Buffer | undefined;
      try {
        body = await boundedBody(ctx, maxSize);
      } catch (error) {
        if (!isAppsError(error)) throw error;
        ctx.state.appsAnswered = true;
        closeUnlessEnded(ctx.req);
        return respondError(ctx, error, earlyView(ctx, services));
      }
      const json = body && (await shortWork(() => plainJson(ctx, body)));
      if (json) return withBody(ctx, json, next);
      if (body) await expectWork(body.length / PARSED);
      return parse(body ? contextOf(ctx, body) : ctx, next);
    };
  };
}

/** Bytes of a form that are parsed in a millisecond. */
const PARSED = 10_000;

/** Addresses of the admin panel's part, as Strapi's router matches them. */
const PANEL = /^\/apps(?:\/|$)/i;

/** Files that Strapi's parser has written, by the names of their fields. */
type ParsedFiles = Record<string, { filepath: string } | { filepath: string }[]>;

/** Parses a body, and removes after the answer each of its files that is still there. */
async function withoutLeftovers(ctx: Context, parse: Middleware, next: Next): Promise<void> {
  let left: ParsedFiles = {};
  try {
    await parse(ctx, async () => {
      try {
        await next();
      } finally {
        // A handler that goes on with a file has taken it from the request; afterwards the parser takes all.
        left = (ctx.request as { files?: ParsedFiles }).files ?? {};
      }
    });
  } finally {
    for (const { filepath } of Object.values(left).flat()) await rm(filepath, { force: true });
  }
}

/** Methods whose requests have no body as a rule. */
const unread = new Set(['GET', 'HEAD', 'DELETE']);

const METHODS_WITH_BODY = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Goes on with the body that Strapi's parser would set: the parser checks its whole configuration for each request. */
function withBody(ctx: Context, body: object, next: Next): Promise<unknown> {
  (ctx.request as { body?: unknown }).body = body;
  return next();
}

/**
 * The parser's configuration: the host's, with the plugin's limits; files are dropped. A body is read whatever the method: one of a
 * DELETE that is taken for an empty one would delete more than it says.
 */
function boundedConfig(config: ParserConfig, maxSize: number): ParserConfig {
  const formidable = {
    ...config.formidable,
    maxFileSize: maxSize,
    maxFieldsSize: maxSize,
    fileWriteStreamHandler: () => new Writable({ write: (_chunk, _encoding, done) => done() }),
  };
  const parsedMethods = config.parsedMethods ?? METHODS_WITH_BODY;
  return { ...config, parsedMethods, jsonLimit: maxSize, formLimit: maxSize, textLimit: maxSize, formidable };
}

/**
 * The bytes of a body whose text is checked, undefined for another. It is read completely before the parser gets it, because
 * the form parser counts only the contents of parts, and no parser reports what it could not read. PayloadTooLargeError.
 */
async function boundedBody(ctx: Context, maxSize: number): Promise<Buffer | undefined> {
  const type = mediaType(ctx);
  if (Number(ctx.get('Content-Length') || 0) > maxSize) throw bodyTooLarge(maxSize);
  if (!type.startsWith('multipart/') && !isChecked(type)) return undefined;
  const body = await readBytes(ctx.req, maxSize);
  keepBody(ctx.req, body);
  return body;
}

/** The context for the parser, which reads the bytes again. */
function contextOf(ctx: Context, body: Buffer): Context {
  const request = Object.assign(Readable.from([body], { objectMode: false }), { headers: ctx.req.headers });
  return Object.create(ctx, { req: { value: request } }) as Context;
}

/** Refusals of Strapi's own middlewares, mostly of its body parser, by status. */
const refusals: Record<number, { name: ErrorName; message: string }> = {
  400: { name: 'BadRequestError', message: 'The body cannot be read' },
  413: { name: 'PayloadTooLargeError', message: 'The body is too large' },
  415: { name: 'UnsupportedMediaTypeError', message: 'The body is of a type that is not taken' },
  500: { name: 'InternalServerError', message: 'Something went wrong' },
};

/** Some unreadable bodies make the body parser fail with a 500. */
const unreadable: { is(ctx: Context): boolean; message: string }[] = [
  {
    is: (ctx) => mediaType(ctx) === 'multipart/form-data',
    message: `The form cannot be read: it has more than ${MAX_FIELDS} fields, or is not well formed`,
  },
  { is: (ctx) => ctx.get('Content-Encoding') !== '', message: 'The body cannot be read' },
];

function refusalOf(ctx: Context): { name: ErrorName; message: string } | undefined {
  const body = ctx.status === 500 && unreadable.find(({ is }) => is(ctx));
  return body ? { name: 'BadRequestError', message: body.message } : refusals[ctx.status];
}

/**
 * A middleware around all of Strapi's: if one of them refuses a request at one of the plugin's addresses, the answer
 * gets the form of the plugin's errors (docs/errors.md#form). Must be used before Strapi's own are, in `register`.
 */
export function createErrorForm(services: () => HttpServices | undefined): Middleware {
  return async (ctx: Context, next: Next) => {
    await next();
    const running = services();
    const refusal = refusalOf(ctx);
    if (!refusal || !running || ctx.state.appsAnswered || !isOurs(ctx, running.sites)) return;
    const said = (ctx.body as { error?: { message?: unknown } } | undefined)?.error?.message;
    const reason = ctx.status === 400 && typeof said === 'string' ? `${refusal.message}: ${said}` : refusal.message;
    await respondError(ctx, new AppsError(refusal.name, reason), earlyView(ctx, running));
  };
}
