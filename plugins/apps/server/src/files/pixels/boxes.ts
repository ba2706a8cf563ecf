import { type PictureReader, UnreadablePicture } from './reader';

/** A box of an ISO media file, without its head. */
export interface Box {
  type: string;
  at: number;
  end: number;
}

/** The boxes between two offsets, in their order. */
export async function* boxes(reader: PictureReader, start: number, end: number): AsyncGenerator<Box> {
  for (let at = start; at + 8 <= end; ) {
    reader.part();
    const head = await reader.bytes(at, 8);
    const type = head.toString('latin1', 4, 8);
    const short = head.readUInt32BE(0);
    const isLong = short === 1;
    const size = isLong ? Number((await reader.bytes(at + 8, 8)).readBigUInt64BE(0)) : short || end - at;
    const box = { type, at: at + (isLong ? 16 : 8), end: at + size };
    if (box.end < box.at || box.end > end) throw new UnreadablePicture('The picture is cut');
    yield box;
    at = box.end;
  }
}

/** The first box of a path, such as `mdia`, `minf`; undefined without one. */
export async function boxAt(
  reader: PictureReader,
  within: Pick<Box, 'at' | 'end'>,
  [type, ...rest]: readonly string[],
): Promise<Box | undefined> {
  for await (const box of boxes(reader, within.at, within.end))
    if (box.type === type) return rest.length === 0 ? box : boxAt(reader, box, rest);
  return undefined;
}

/** Reads the numbers of a box, one after the other. */
export class BoxNumbers {
  private at: number;

  constructor(
    private readonly reader: PictureReader,
    private readonly box: Box,
    skip = 0,
  ) {
    this.at = box.at + skip;
  }

  /** A number of so many bytes, at most 4. UnreadablePicture behind the box's end. */
  async next(bytes: number): Promise<number> {
    if (this.at + bytes > this.box.end) throw new UnreadablePicture('The picture is cut');
    const found = this.reader.known(this.at, bytes) ?? (await this.reader.bytes(this.at, bytes));
    this.at += bytes;
    return found.readUIntBE(0, bytes);
  }
}
