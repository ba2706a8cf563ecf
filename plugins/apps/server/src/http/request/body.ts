import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import type { Context } from 'koa';
import { type Items, isItems } from '../../../../shared/json';
import type { FormFields } from '../../apps';
import { AppsError, bodyTooLarge } from '../../common/errors';
import { checkNumbers } from '../../common/numbers';
import { OwnValue } from '../../common/request-objects';
import type { AppTarget } from '../../sites/types';
import { addressOf } from './locate';
import { fileFormat, mediaType } from './negotiate';
import { checkEncoded, checkUtf8 } from './text';

/** Media types of a submitted HTML form. */
const formTypes = new Set(['application/x-www-form-urlencoded', 'multipart/form-data']);

/** Milliseconds for which the rest of a refused body is read and dropped, so that the client sees the answer. */
export const LINGER = 5_000;

export const isFormType = (type: string): boolean => formTypes.has(type);

/** Whether the request has a body at all. */
export function hasBody(ctx: Context): boolean {
  const length = ctx.get('Content-Length');
  return ctx.get('Transfer-Encoding') !== '' || (length !== '' && length !== '0');
}

/**
 * The bytes of a request's body, as they come. BadRequestError when the client disconnects before their end. A reader that
 * stops keeps the connection open, so that the error can still be answered.
 */
export async function* received(request: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    yield* request.iterator({ destroyOnReturn: false });
  } catch (cause) {
    throw endedTooSoon(cause);
  }
}

/**
 * All bytes of a request's body. PayloadTooLargeError for more than `maxSize`, of which the rest is not read; BadRequestError when the
 * client disconnects before the end. By events: an iterator makes ten promises for a body of one piece.
 */
export function readBytes(request: IncomingMessage, maxSize: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const leave = () => {
      request.off('data', take).off('end', end).off('error', fail).off('close', close);
      request.pause();
    };
    const refuse = (error: AppsError) => {
      leave();
      reject(error);
    };
    const take = (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxSize) refuse(bodyTooLarge(maxSize));
      else chunks.push(chunk);
    };
    const end = () => {
      leave();
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    };
    const fail = (cause: unknown) => refuse(endedTooSoon(cause));
    const close = () => fail(undefined);
    request.on('data', take).on('end', end).on('error', fail).on('close', close);
  });
}

const endedTooSoon = (cause: unknown): AppsError =>
  new AppsError('BadRequestError', 'The body ended too soon', { cause });

/** The bytes of a request's body, and what tells them from those of another one. */
export class SentBytes {
  private readonly hash = createHash('sha256');
  private size = 0;
  private isEnded = false;

  constructor(private readonly request: IncomingMessage) {}

  /** The bytes as they come, as `received`. */
  async *read(): AsyncGenerator<Buffer> {
    for await (const chunk of received(this.request)) {
      this.size += chunk.length;
      this.hash.update(chunk);
      yield chunk;
    }
    this.isEnded = true;
  }

  /** The length of what was read, and a digest of it. */
  digest = (): string => `${this.size}.${this.hash.copy().digest('base64url')}`;

  /** Reads the rest without keeping it, and stops where the body is longer than that of `digest`. */
  async skipLike(digest: string): Promise<void> {
    if (this.isEnded) return;
    const size = Number(digest.split('.')[0]);
    for await (const _ of this.read()) {
      if (this.size <= size) continue;
      closeUnlessEnded(this.request);
      return;
    }
  }
}

/** Kinds of addresses below an app that take forms, also with files: a block, a record, a record by its link, a draft; a view is the page of a block. */
export const takesForms: ReadonlySet<AppTarget['kind']> = new Set(['block', 'record', 'mine', 'draft']);

/** Whether the request is the posted form of a page, which is answered with a page or a form. */
export function isPageForm(ctx: Context, kind: AppTarget['kind'] | null, json: boolean): boolean {
  return ctx.method === 'POST' && !json && kind !== null && takesForms.has(kind) && isFormType(mediaType(ctx));
}

/** Whether a body is a form that is read only when the limits of its files are known: one of a block, a record or a view. */
export function defersForm(ctx: Context): boolean {
  if (mediaType(ctx) !== 'multipart/form-data') return false;
  const address = addressOf(ctx);
  return address?.kind === 'view' || (address?.kind === 'app' && takesForms.has(address.target.kind));
}

/** The JSON object of the request, `{}` without a body. UnsupportedMediaTypeError, or BadRequestError for another shape. */
export function jsonObject(ctx: Context): Items {
  const body = jsonBody(ctx);
  if (body === undefined) return {};
  if (!isItems(body)) throw new AppsError('BadRequestError', 'The body must be a JSON object');
  return body;
}

/** The parsed JSON of the request, undefined without a body. */
export function jsonBody(ctx: Context): unknown {
  if (!hasBody(ctx)) return undefined;
  if (mediaType(ctx) !== 'application/json') {
    throw new AppsError('UnsupportedMediaTypeError', 'The body must be application/json', {
      headers: { Accept: 'application/json' },
    });
  }
  return (ctx.request as { body?: unknown }).body;
}

/** The fields of a submitted form; of a JSON body, when a form is submitted as JSON. Files are refused. */
export function formFields(ctx: Context): FormFields {
  if (!hasBody(ctx)) return {};
  const type = mediaType(ctx);
  const request = ctx.request as { body?: unknown; files?: Record<string, unknown> };
  if (type === 'application/json') return jsonObject(ctx);
  if (!formTypes.has(type)) throw new AppsError('UnsupportedMediaTypeError', 'The body must be a submitted form');
  if (request.files && Object.keys(request.files).length > 0) {
    throw new AppsError('UnsupportedMediaTypeError', 'Files cannot be stored in records');
  }
  return flatFields(request.body);
}

/**
 * The fields of a form by their own names, each a text or a list of texts. Strapi's parser reads `action.like=1` as a
 * nested object, `a=1&a.b=2` as a list that holds one; names of elements and actions have dots.
 */
export const flatFields = (body: unknown): FlatFields =>
  body !== null && typeof body === 'object' ? flattened(body) : {};

type FlatFields = Readonly<Record<string, string | string[]>>;

/** Once for each body: a form may have a thousand fields, and is asked for them several times. */
const known = new OwnValue<object, FlatFields>('fields');

function flattened(body: object): FlatFields {
  return known.getOrMake(body, () => flatten(body));
}

function flatten(body: object): FlatFields {
  const texts = new Map<string, string[]>();
  const listOf = (name: string): string[] => {
    const list = texts.get(name) ?? [];
    if (list.length === 0) texts.set(name, list);
    return list;
  };
  const add = (name: string, value: unknown): void => {
    if (value === null || typeof value !== 'object') listOf(name).push(String(value ?? ''));
    else if (Array.isArray(value)) for (const entry of value) add(name, entry);
    else for (const [key, inner] of Object.entries(value)) addInner(name, key, inner);
  };
  const addInner = (name: string, key: string, inner: unknown): void => {
    // The parser writes `true` for a text beside the object, and numbers as keys for a list that is too long for it.
    if (inner === true) add(name, key);
    else if (name !== '' && /^\d+$/.test(key)) add(name, inner);
    else add(name === '' ? key : `${name}.${key}`, inner);
  };
  add('', body);
  // Not by assignment: a field may be called __proto__.
  return Object.fromEntries([...texts].map(([name, list]) => [name, list.length === 1 ? (list[0] ?? '') : list]));
}

/** Levels of lists and objects inside each other that a JSON body may have. */
export const MAX_DEPTH = 100;

/** BadRequestError for JSON that is nested too deep to be stored and shown. */
export function checkDepth(body: unknown): void {
  if (isDeeper(body, MAX_DEPTH))
    throw new AppsError('BadRequestError', `The JSON is nested more than ${MAX_DEPTH} deep`);
}

/** Whether a value of JSON has others more than `levels` below it. Each body is walked: names are read in a loop, without a list of values. */
function isDeeper(value: unknown, levels: number): boolean {
  if (levels < 0) return true;
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some((one) => isDeeper(one, levels - 1));
  for (const name in value) if (isDeeper((value as Record<string, unknown>)[name], levels - 1)) return true;
  return false;
}

/** Fields of a submitted form: Strapi's parsers drop further ones, or fail. */
export const MAX_FIELDS = 1_000;

/**
 * BadRequestError for a form of too many fields: the parser silently drops those beyond its limit, so that a form that
 * reaches it may be incomplete.
 */
function checkFields(body: unknown): void {
  if (Object.values(flatFields(body)).flat().length < MAX_FIELDS) return;
  throw new AppsError('BadRequestError', `A form must have fewer than ${MAX_FIELDS} fields`);
}

/** PayloadTooLargeError or BadRequestError for a body that is too large or too deep, before any work is done. */
export function checkBody(ctx: Context, maxSize: number): void {
  if (fileFormat(ctx)) return;
  if (Number(ctx.get('Content-Length') || 0) > maxSize) throw bodyTooLarge(maxSize);
  const { body } = ctx.request as { body?: unknown };
  checkDepth(body);
  if (formTypes.has(mediaType(ctx))) checkFields(body);
}

/** Node.js drops the rest of a body after the answer; a client that sends for longer than LINGER is disconnected. */
export function closeUnlessEnded(request: IncomingMessage): void {
  const timer = setTimeout(() => request.destroy(), LINGER);
  request.once('close', () => clearTimeout(timer));
}

/** Checks of a body's text, besides UTF-8, by media type. */
const checks: Record<string, (text: string) => void> = {
  'application/json': (text) => checkNumbers(text),
  'application/x-www-form-urlencoded': (text) => checkEncoded(text, 'The form'),
  'multipart/form-data': () => undefined,
};

const decoders: Record<string, Decoder> = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/** Raw bytes of bodies: Strapi's parser silently puts U+FFFD for invalid bytes, and rounds numbers. */
const kept = new OwnValue<IncomingMessage, Buffer>('body');

/** Names that the parser refuses (`__proto__`), and escapes with which they may be written. */
const SUSPECT = /__proto__|\\u00[567]/i;

/**
 * The object or list of a JSON body as the parser would read it, undefined for all that the parser treats in its own way:
 * other media types, compressed, empty and wrong bodies, suspect names.
 */
export function plainJson(ctx: Context, bytes: Buffer): object | undefined {
  if (mediaType(ctx) !== 'application/json' || ctx.get('Content-Encoding') !== '') return undefined;
  const text = bytes.toString('utf8');
  if (SUSPECT.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === 'object' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the raw bytes of a body of this media type are checked. */
export const isChecked = (type: string): boolean => Object.hasOwn(checks, type);

/** Keeps the bytes of a request's body for `checkRawBody`. */
export function keepBody(request: IncomingMessage, bytes: Buffer): void {
  kept.set(request, bytes);
}

/** The bytes of a request's body as they came, until `checkRawBody`; undefined where they were not kept. */
export const keptBody = (ctx: Context): Buffer | undefined => kept.get(ctx.req);

/**
 * BadRequestError, with the position, for a JSON or form body that is not UTF-8 or has numbers that JavaScript cannot
 * represent; PayloadTooLargeError for one that is larger than `maxSize` bytes after decompression.
 */
export async function checkRawBody(ctx: Context, maxSize: number): Promise<void> {
  const body = kept.get(ctx.req);
  const type = mediaType(ctx);
  // A file may hold any bytes; `formFields` refuses files.
  const { files } = ctx.request as { files?: object };
  if (!body || (files && Object.keys(files).length > 0)) return;
  kept.set(ctx.req, undefined);
  const decode = decoders[ctx.get('Content-Encoding').toLowerCase()];
  const bytes = decode ? await decoded(decode, body, maxSize) : body;
  checkUtf8(bytes, 'The body');
  checks[type]?.(bytes.toString('utf8'));
}

type Decoder = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

function decoded(decode: Decoder, bytes: Buffer, maxSize: number): Promise<Buffer> {
  return decode(bytes, { maxOutputLength: maxSize }).catch((cause: { code?: string }) => {
    if (cause.code === 'ERR_BUFFER_TOO_LARGE') throw bodyTooLarge(maxSize);
    throw new AppsError('BadRequestError', 'The body cannot be read', { cause });
  });
}
