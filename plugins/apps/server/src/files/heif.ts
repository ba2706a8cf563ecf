import { type PictureReader, UnreadablePicture } from './pixel-reader';

/** A box of an ISO media file, without its head. */
interface Box {
  type: string;
  at: number;
  end: number;
}

/** The boxes between two offsets, in their order. */
async function* boxes(reader: PictureReader, start: number, end: number): AsyncGenerator<Box> {
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
async function boxAt(
  reader: PictureReader,
  within: Pick<Box, 'at' | 'end'>,
  [type, ...rest]: readonly string[],
): Promise<Box | undefined> {
  for await (const box of boxes(reader, within.at, within.end))
    if (box.type === type) return rest.length === 0 ? box : boxAt(reader, box, rest);
  return undefined;
}

/** Reads the numbers of a box, one after the other. */
class BoxNumbers {
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

/** References of an image to the one that it belongs to: its alpha channel, a smaller copy. */
const BELONGS = new Set(['auxl', 'thmb', 'cdsc', 'prem']);

/** Handlers of tracks with pictures. */
const PICTURES = new Set(['pict', 'vide', 'auxv']);

/**
 * AVIF and HEIC: all images together, without the tiles that one is made of and what belongs to one, but at least the largest of
 * these; or the frames of the longest sequence.
 */
export async function heifPixels(reader: PictureReader): Promise<number> {
  let pixels = 0;
  for await (const box of boxes(reader, 0, reader.size)) {
    if (box.type === 'meta') pixels = Math.max(pixels, await imagesOf(reader, box));
    if (box.type === 'moov') pixels = Math.max(pixels, await sequenceOf(reader, box));
  }
  if (pixels === 0) throw new UnreadablePicture('The picture has no size');
  return pixels;
}

async function imagesOf(reader: PictureReader, meta: Box): Promise<number> {
  const within = { at: meta.at + 4, end: meta.end };
  const sizes = await sizesOf(reader, within);
  const parts = await partsOf(reader, within);
  let [whole, largest] = [0, 0];
  for (const [id, pixels] of sizes) {
    if (!parts.has(id)) whole += pixels;
    largest = Math.max(largest, pixels);
  }
  return Math.max(whole, largest);
}

/** The pixels of each image, by its id: the largest of its properties. */
async function sizesOf(reader: PictureReader, within: Pick<Box, 'at' | 'end'>): Promise<Map<number, number>> {
  const sizes = new Map<number, number>();
  const properties = await propertiesOf(reader, await boxAt(reader, within, ['iprp', 'ipco']));
  const box = await boxAt(reader, within, ['iprp', 'ipma']);
  if (!box) return sizes;
  const numbers = new BoxNumbers(reader, box);
  const [version, flags] = [await numbers.next(1), await numbers.next(3)];
  for (let left = await numbers.next(4); left > 0; left -= 1) {
    reader.part();
    const id = await numbers.next(version < 1 ? 2 : 4);
    for (let left_ = await numbers.next(1); left_ > 0; left_ -= 1) {
      const index = flags & 1 ? (await numbers.next(2)) & 0x7fff : (await numbers.next(1)) & 0x7f;
      const pixels = properties[index - 1] ?? 0;
      if (pixels > 0) sizes.set(id, Math.max(sizes.get(id) ?? 0, pixels));
    }
  }
  return sizes;
}

/** The pixels that each property says; 0 for one that is no size. */
async function propertiesOf(reader: PictureReader, box: Box | undefined): Promise<number[]> {
  const pixels: number[] = [];
  for await (const { type, at } of box ? boxes(reader, box.at, box.end) : []) {
    const size = type === 'ispe' ? await reader.bytes(at + 4, 8) : undefined;
    pixels.push(size ? size.readUInt32BE(0) * size.readUInt32BE(4) : 0);
  }
  return pixels;
}

/** The ids of images that are a part of another one. */
async function partsOf(reader: PictureReader, within: Pick<Box, 'at' | 'end'>): Promise<Set<number>> {
  const parts = new Set<number>();
  const box = await boxAt(reader, within, ['iref']);
  if (!box) return parts;
  const [version = 0] = await reader.bytes(box.at, 1);
  const length = version === 0 ? 2 : 4;
  for await (const reference of boxes(reader, box.at + 4, box.end)) {
    const numbers = new BoxNumbers(reader, reference);
    const from = await numbers.next(length);
    if (BELONGS.has(reference.type)) parts.add(from);
    if (reference.type !== 'dimg') continue;
    for (let left = await numbers.next(2); left > 0; left -= 1) {
      reader.part();
      parts.add(await numbers.next(length));
    }
  }
  return parts;
}

/** The pixels of all frames of the longest track. */
async function sequenceOf(reader: PictureReader, moov: Box): Promise<number> {
  let longest = 0;
  for await (const track of boxes(reader, moov.at, moov.end)) {
    const handler = track.type === 'trak' ? await boxAt(reader, track, ['mdia', 'hdlr']) : undefined;
    if (!handler || !PICTURES.has((await reader.bytes(handler.at + 8, 4)).toString('latin1'))) continue;
    const table = await boxAt(reader, track, ['mdia', 'minf', 'stbl']);
    const [sample, sizes] = table
      ? [
          await boxAt(reader, table, ['stsd']),
          (await boxAt(reader, table, ['stsz'])) ?? (await boxAt(reader, table, ['stz2'])),
        ]
      : [];
    if (!sample || !sizes) throw new UnreadablePicture('A sequence has no size');
    // The first entry begins behind version, flags and their number; its width follows 32 bytes.
    const size = await reader.bytes(sample.at + 8 + 32, 4);
    const frames = (await reader.bytes(sizes.at + 8, 4)).readUInt32BE(0);
    longest = Math.max(longest, size.readUInt16BE(0) * size.readUInt16BE(2) * frames);
  }
  return longest;
}
