import type { FileHandle } from 'node:fs/promises';

/** The size of a picture cannot be read from its file: it is broken, or has more parts than are read. */
export class UnreadablePicture extends Error {}

/** Bytes that are read at once. */
const WINDOW = 32 * 1024;

/** Parts of a picture that are read: blocks, chunks, segments, entries of directories. */
export const MAX_PARTS = 1_000_000;

/** Reads of the file besides those that read it from its beginning to its end. */
const MAX_JUMPS = 4_096;

/**
 * The bytes of a picture's file, read where they are needed. The work is bounded: UnreadablePicture for bytes behind the file's
 * end, after MAX_PARTS parts, and after more reads than the file's length and MAX_JUMPS explain.
 */
export class PictureReader {
  private window = Buffer.alloc(0);
  private start = 0;
  private parts = MAX_PARTS;
  private reads: number;

  /** @param size bytes of the file */
  constructor(
    private readonly file: FileHandle,
    readonly size: number,
  ) {
    this.reads = MAX_JUMPS + Math.ceil(size / WINDOW);
  }

  /** Counts a part of the picture. */
  part(): void {
    this.parts -= 1;
    if (this.parts < 0) throw new UnreadablePicture(`The picture has more than ${MAX_PARTS} parts`);
  }

  /** The bytes if they have been read already: saves the loop over many small parts from waiting for each. */
  known(at: number, length: number): Buffer | undefined {
    const from = at - this.start;
    return from >= 0 && from + length <= this.window.length ? this.window.subarray(from, from + length) : undefined;
  }

  /** @param length at most 32 kB */
  async bytes(at: number, length: number): Promise<Buffer> {
    const found = this.known(at, length);
    if (found) return found;
    this.reads -= 1;
    if (length > WINDOW || at + length > this.size || this.reads < 0) throw new UnreadablePicture('The picture is cut');
    const { buffer, bytesRead } = await this.file.read(Buffer.alloc(WINDOW), 0, WINDOW, at);
    this.window = buffer.subarray(0, bytesRead);
    this.start = at;
    const read = this.known(at, length);
    if (!read) throw new UnreadablePicture('The picture is cut');
    return read;
  }
}
