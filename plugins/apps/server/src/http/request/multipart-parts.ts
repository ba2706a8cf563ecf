import type { BusboyFileStream } from '@fastify/busboy';
import { AppsError, bodyTooLarge } from '../../common/errors';
import { type FileRules, type Files, fieldOf, type RequestFiles } from '../../files';
import { MAX_FIELDS } from './body';
import { checkUtf8 } from './text';

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
export class MultipartParts {
  readonly texts = new Map<string, string[]>();
  readonly failed: Promise<never>;
  private failure: { error: unknown } | undefined;
  private reject: (error: unknown) => void = () => undefined;
  private readonly running: Promise<void>[] = [];
  private readonly fields: Promise<void>[] = [];
  private readonly open = new Set<BusboyFileStream>();
  private fieldSize = 0;
  private fieldCount = 0;
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
    // Parts are read beside each other: what comes later may be complete earlier, and is added in its order.
    const before = this.running.at(-1) ?? Promise.resolve();
    const work = this.failure ? drained(stream) : this.read(name ?? '', stream, filename, before);
    this.running.push(
      work
        .catch((error) => {
          this.fail(error);
          stream.resume();
        })
        .finally(() => this.open.delete(stream)),
    );
  }

  private read(
    name: string,
    stream: BusboyFileStream,
    filename: string | undefined,
    before: Promise<void>,
  ): Promise<void> {
    if (filename !== undefined) return this.readFile(name, stream, filename, before);
    const field = this.readField(name, stream, before);
    this.fields.push(field);
    return field;
  }

  private async readField(name: string, stream: BusboyFileStream, before: Promise<void>): Promise<void> {
    this.fieldCount += 1;
    if (this.fieldCount >= MAX_FIELDS) throw tooManyFields();
    const bytes = await wholeOf(stream, (size) => {
      this.fieldSize += size;
      if (this.fieldSize > this.options.bodySize) throw bodyTooLarge(this.options.bodySize);
    });
    checkUtf8(bytes, `The field "${name.slice(0, 100)}"`);
    await before;
    this.texts.set(name, [...(this.texts.get(name) ?? []), bytes.toString('utf8')]);
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
    await Promise.all(this.fields);
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
      Object.fromEntries([...this.texts].map(([name, list]) => [name, list.at(-1) ?? ''])),
    );
    return this.takes;
  }
}

/**
 * The bytes of a field. By events: an asynchronous iterator of a stream costs ten times as much, and a form may have a thousand fields.
 * @param onSize gets the length of each chunk; rejects with what it throws
 */
function wholeOf(stream: BusboyFileStream, onSize: (size: number) => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => {
      try {
        onSize(chunk.length);
        chunks.push(chunk);
      } catch (error) {
        reject(error);
      }
    });
    stream.once('end', () => resolve(Buffer.concat(chunks)));
    stream.once('error', reject);
    stream.once('close', () => {
      // The form was ended in it.
      if (!stream.readableEnded) reject(badForm());
    });
  });
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

export const badForm = (cause?: unknown) =>
  new AppsError('BadRequestError', 'The body is not a complete form of the type multipart/form-data', { cause });

export const tooManyFields = () => new AppsError('BadRequestError', `A form must have fewer than ${MAX_FIELDS} fields`);
