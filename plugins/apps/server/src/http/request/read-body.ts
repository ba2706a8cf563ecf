import { once } from 'node:events';
import type { BusboyFileStream } from '@fastify/busboy';
import Busboy from '@fastify/busboy';
import type { Context } from 'koa';
import { fileRules, refusal } from '../../apps';
import { AppsError, bodyTooLarge } from '../../common/errors';
import { expectWork, recordWork, shortWork, untilLoopIsFree } from '../../common/time/pace';
import { type FileRules, type Files, fieldOf, RequestFiles } from '../../files';
import { checkBody, checkRawBody, closeUnlessEnded, defersForm, hasBody, MAX_FIELDS, received } from './body';
import { checkToken } from './csrf';
import type { HttpServices, OpenedApp } from './exchange';
import { checkUtf8 } from './text';

/**
 * Checks the body of a request, or reads it where it is a form with files; returns those. No file is taken from a request
 * without a valid token, or of a sender who may save nothing there: CsrfError, 401 or 403. The form of a page is read
 * without its files, to be shown again.
 */
export async function readBody(request: OpenedApp): Promise<RequestFiles> {
  const { ctx, services, site, app, requester, owner, rights, isForm, target, own, draft } = request;
  const { bodySize, uploadSize } = services.config.limits;
  const scope = { site: site.id, app: app.id };
  if (!hasBody(ctx) || !defersForm(ctx)) {
    await shortWork(() => checkBody(ctx, bodySize));
    await checkRawBody(ctx, bodySize);
    return requestFiles(request, scope);
  }
  return readMultipart(ctx, requestFiles(request, scope), {
    bodySize,
    uploadSize,
    rules: ctx.method === 'POST' ? fileRules(app, target.kind === 'block' ? target.block : draft?.block) : new Map(),
    files: services.files,
    scope,
    check(fields) {
      (ctx.request as { body?: unknown }).body = fields;
      const staleForm = checkToken(request);
      // Also the form of a draft that has ended, which is shown again with its files.
      const isNew = target.kind === 'block' || target.kind === 'draft';
      const maySave = isNew ? rights.create : rights.edit(owner() || null) || own?.edit === true;
      if (!maySave && !isForm) throw refusal(requester, isNew ? 'add records' : 'change this record');
      return maySave && !staleForm;
    },
  });
}

/** Reads the fields of a form with files that was not read yet, and takes none of its files. */
export async function readFieldsOnly(ctx: Context, services: HttpServices): Promise<void> {
  const { bodySize, uploadSize } = services.config.limits;
  const scope = { site: '', app: '' };
  const none = new RequestFiles(services.files, scope, () => '');
  const { files } = services;
  await readMultipart(ctx, none, { bodySize, uploadSize, rules: null, files, scope, check: () => false });
}

/** The files of a request; those that no form waits for are removed after the answer. */
export function requestFiles(
  { ctx, services: { files, requesters }, requester }: Pick<OpenedApp, 'ctx' | 'services' | 'requester'>,
  scope: { site: string; app: string },
): RequestFiles {
  const own = new RequestFiles(files, scope, () => requesters.senderName(requester, ctx.ip));
  const end = () => void own.end().catch(() => undefined);
  if (ctx.res.closed) end();
  else ctx.res.once('close', end);
  return own;
}

/** Limits of a form with files. */
export interface MultipartOptions {
  /** Bytes of all fields together. */
  bodySize: number;
  /** Bytes of all files together. */
  uploadSize: number;
  /** Null: all files are skipped. */
  rules: FileRules | null;
  files: Files;
  scope: { site: string; app: string };
  /**
   * Called before the first file is taken, with the fields before it: throws where the request is refused, false where its
   * files are skipped and the rest of the form is read.
   */
  check(fields: Readonly<Record<string, string | string[]>>): boolean;
}

/** The parts of a form as they arrive. */
class MultipartParts {
  readonly failed: Promise<never>;
  private failure: { error: unknown } | undefined;
  private reject: (error: unknown) => void = () => undefined;
  private readonly running: Promise<void>[] = [];
  private readonly open = new Set<BusboyFileStream>();
  /** Fields in their order; those that are still being read are in `openFields` too. */
  private readonly fields: { name: string; chunks: Buffer[] }[] = [];
  private readonly openFields = new Set<BusboyFileStream>();
  private fieldSize = 0;
  private readonly counts = new Map<string, number>();
  private takes: boolean | undefined;

  constructor(
    private readonly options: MultipartOptions,
    private readonly files: RequestFiles,
  ) {
    this.failed = new Promise((_, reject) => {
      this.reject = reject;
    });
    this.failed.catch(() => undefined);
  }

  fail(error: unknown): void {
    this.failure ??= { error };
    this.reject(this.failure.error);
  }

  throwFailure(): void {
    if (this.failure) throw this.failure.error;
  }

  /** Ends the parts that are still being read, and waits until their files are gone. */
  async abort(error: Error): Promise<void> {
    this.fail(error);
    for (const stream of this.open) stream.destroy(error);
    await Promise.all(this.running);
  }

  async end(): Promise<void> {
    await Promise.all(this.running);
    this.throwFailure();
  }

  take(name: string | undefined, stream: BusboyFileStream, filename: string | undefined): void {
    // Its errors, which also end the loop that reads it, are those of the body.
    stream.on('error', (error) => this.fail(badForm(error)));
    this.open.add(stream);
    if (this.failure) this.track(stream, drained(stream));
    else if (filename === undefined) this.readField(name ?? '', stream);
    // Files are read beside each other: what comes later may be complete earlier, and is added in its order.
    else this.track(stream, this.readFile(name ?? '', stream, filename, this.running.at(-1) ?? Promise.resolve()));
  }

  private track(stream: BusboyFileStream, work: Promise<void>): void {
    this.running.push(
      work
        .catch((error) => {
          this.fail(error);
          stream.resume();
        })
        .finally(() => this.open.delete(stream)),
    );
  }

  /** By events, without a promise: a form may have a thousand fields, and their promises would cost more than the parser. */
  private readField(name: string, stream: BusboyFileStream): void {
    const field = { name, chunks: [] as Buffer[] };
    this.countField(Buffer.byteLength(name));
    this.fields.push(field);
    this.openFields.add(stream);
    if (this.fields.length >= MAX_FIELDS) this.fail(tooManyFields());
    stream.on('data', (chunk: Buffer) => {
      if (this.countField(chunk.length)) field.chunks.push(chunk);
    });
    stream.once('end', () => {
      this.open.delete(stream);
      this.openFields.delete(stream);
    });
  }

  /** Counts bytes of a field's name or value; false where the form is too large with them. */
  private countField(bytes: number): boolean {
    this.fieldSize += bytes;
    const fits = this.fieldSize <= this.options.bodySize;
    if (!fits) this.fail(bodyTooLarge(this.options.bodySize));
    return fits;
  }

  /** The fields that have arrived, with all values of each; BadRequestError for one that is not UTF-8. */
  texts(): Map<string, string[]> {
    const texts = new Map<string, string[]>();
    for (const { name, chunks } of this.fields) {
      const bytes = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
      checkUtf8(bytes, `The field "${name.slice(0, 100)}"`);
      const values = texts.get(name);
      const text = bytes.toString('utf8');
      if (values) values.push(text);
      else texts.set(name, [text]);
    }
    return texts;
  }

  private async readFile(
    name: string,
    stream: BusboyFileStream,
    filename: string,
    before: Promise<void>,
  ): Promise<void> {
    const { rules } = this.options;
    if (rules === null) return drained(stream);
    const field = fieldOf(name) ?? '';
    const rule = rules.get(field);
    const count = this.counts.get(field) ?? 0;
    if (!rule) return refuseUnlessEmpty(name, stream, filename);
    // One more than is allowed is enough to say so. A browser sends a part without a name where nothing was chosen.
    if (filename !== '' && count > rule.count) return drained(stream);
    if (filename !== '') this.counts.set(field, count + 1);
    // Fields before the file have arrived, but may not have been read yet.
    await Promise.all([...this.openFields].map((open) => once(open, 'end')));
    if (!this.takesFiles()) {
      if (await isChosen(stream, filename)) this.files.skip(name);
      return;
    }
    const scope = { ...this.options.scope, field };
    const file = await this.options.files.temporary.receive(stream, filename, rule.maxSize, scope);
    await before;
    if (file) this.files.receive(name, file);
  }

  /** The sender's right and token are checked before the first file fills the disk. */
  private takesFiles(): boolean {
    this.takes ??= this.options.check(
      Object.fromEntries([...this.texts()].map(([name, list]) => [name, list.at(-1) ?? ''])),
    );
    return this.takes;
  }
}

async function drained(stream: AsyncIterable<Buffer>): Promise<void> {
  for await (const _ of stream);
}

async function refuseUnlessEmpty(name: string, stream: AsyncIterable<Buffer>, filename: string): Promise<void> {
  if (await isChosen(stream, filename)) throw noFileField(name);
}

/** Whether a part is a file: a browser sends an empty part for a file field in which nothing was chosen. */
async function isChosen(stream: AsyncIterable<Buffer>, filename: string): Promise<boolean> {
  let size = 0;
  // Read to its end: the body may be too large, or no complete form.
  for await (const chunk of stream) size += chunk.length;
  return size > 0 || filename !== '';
}

/** A file came in a field that takes none. */
export const noFileField = (name: string) =>
  new AppsError('UnsupportedMediaTypeError', `The form has no field "${name.slice(0, 100)}" that takes files`);

const badForm = (cause?: unknown) =>
  new AppsError('BadRequestError', 'The body is not a complete form of the type multipart/form-data', { cause });

const tooManyFields = () => new AppsError('BadRequestError', `A form must have fewer than ${MAX_FIELDS} fields`);

/** Bytes of files that are read, though not kept, where they are too large: so that the form can say which one is. */
const READ_SIZE = 64 * 1024 * 1024;

/**
 * Reads a form with files (docs/reference/definitions.md#files): fields into `ctx.request.body`, files into the temporary folder,
 * in constant memory. PayloadTooLargeError by its Content-Length before anything is read, or while it is read;
 * BadRequestError for a body that ends too soon or is no form.
 */
export async function readMultipart(
  ctx: Context,
  files: RequestFiles,
  options: MultipartOptions,
): Promise<RequestFiles> {
  try {
    const texts = await readParts(ctx, options, files);
    // Not by assignment: a field may be called __proto__.
    (ctx.request as { body?: unknown }).body = Object.fromEntries(
      [...texts].map(([name, list]) => [name, list.length === 1 ? (list[0] ?? '') : list]),
    );
    return files;
  } catch (error) {
    closeUnlessEnded(ctx.req);
    throw error;
  }
}

async function readParts(ctx: Context, options: MultipartOptions, files: RequestFiles): Promise<Map<string, string[]>> {
  const { bodySize, uploadSize, rules } = options;
  const wanted = [...(rules?.values() ?? [])].reduce((sum, { maxSize, count }) => sum + maxSize * count, 0);
  const filesSize = rules === null ? uploadSize : wanted && Math.min(Math.max(wanted, READ_SIZE), uploadSize);
  const maxSize = bodySize + filesSize;
  if (Number(ctx.get('Content-Length') || 0) > maxSize) throw bodyTooLarge(maxSize);
  const parts = new MultipartParts(options, files);
  try {
    await feed(ctx, parserOf(ctx, parts), parts, maxSize);
  } catch (error) {
    await parts.abort(error as Error);
    throw error;
  }
  return parts.texts();
}

/** Gives the body to the parser as fast as its parts are written. */
async function feed(
  ctx: Context,
  parser: InstanceType<typeof Busboy>,
  parts: MultipartParts,
  maxSize: number,
): Promise<void> {
  const finished = new Promise((resolve) => parser.once('finish', resolve));
  let size = 0;
  let pieceSize = MIN_PIECE;
  for await (const chunk of received(ctx.req)) {
    size += chunk.length;
    if (size > maxSize) throw bodyTooLarge(maxSize);
    for (const piece of piecesOf(chunk, pieceSize)) {
      const time = await Promise.race([written(parser, piece), parts.failed]);
      pieceSize = time > MANY_PARTS ? MIN_PIECE : Math.min(MAX_PIECE, 2 * pieceSize);
      parts.throwFailure();
    }
  }
  parser.end();
  await Promise.race([finished, parts.failed]);
  await parts.end();
}

/** Milliseconds for which a piece of the body is parsed that has many parts; one of a file takes a tenth of it. */
const MANY_PARTS = 1;

/** Bytes that the parser gets at once: it handles all parts in them before anything else is done. */
const MIN_PIECE = 8 * 1024;
const MAX_PIECE = 64 * 1024;

/** Milliseconds that the smallest piece takes if it is full of parts: 24 bodies that came at once blocked the loop for 200 ms. */
const PIECE_TIME = 3;

function* piecesOf(chunk: Buffer, size: number): Generator<Buffer> {
  for (let at = 0; at < chunk.length; at += size) yield chunk.subarray(at, at + size);
}

/** Resolves when the parser takes more, to the milliseconds for which it has parsed. */
async function written(parser: InstanceType<typeof Busboy>, piece: Buffer): Promise<number> {
  if (piece.length <= MIN_PIECE) await expectWork((PIECE_TIME * piece.length) / MIN_PIECE);
  const begin = performance.now();
  // Asked for at once: it may come while this work waits for others.
  const drained = parser.write(piece) ? undefined : once(parser, 'drain');
  // Awaited below, perhaps after it has rejected.
  drained?.catch(() => undefined);
  const time = performance.now() - begin;
  if (time > MANY_PARTS) {
    recordWork(time);
    await untilLoopIsFree();
  }
  await drained;
  return time;
}

function parserOf(ctx: Context, parts: MultipartParts): InstanceType<typeof Busboy> {
  try {
    const parser = new Busboy({
      headers: { 'content-type': ctx.get('Content-Type') },
      // All parts are streams, so that the bytes of fields can be checked.
      isPartAFile: () => true,
      preservePath: true,
      limits: { headerPairs: 20, parts: MAX_FIELDS + 100 },
    });
    parser.on('file', (name, stream, filename) => parts.take(name, stream, filename));
    parser.on('partsLimit', () => parts.fail(tooManyFields()));
    parser.on('error', (error) => parts.fail(badForm(error)));
    return parser;
  } catch (error) {
    throw badForm(error);
  }
}
