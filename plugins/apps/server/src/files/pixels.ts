import { open } from 'node:fs/promises';
import { heifPixels } from './heif';
import { PictureReader, UnreadablePicture } from './pixel-reader';

/** A chunk of a PNG or WebP file: its type, and where its data are. */
interface Chunk {
  type: string;
  at: number;
  size: number;
}

/** PNG: the size of the image, times the frames of an animation, by what it announces and by those that are there. */
async function pngPixels(reader: PictureReader): Promise<number> {
  const head = await reader.bytes(8, 16);
  if (head.toString('latin1', 4, 8) !== 'IHDR') throw new UnreadablePicture('The picture has no size');
  let [announced, found] = [1, 0];
  for await (const { type, at } of pngChunks(reader)) {
    if (type === 'acTL') announced = (await reader.bytes(at, 4)).readUInt32BE(0);
    if (type === 'fcTL') found += 1;
  }
  return head.readUInt32BE(8) * head.readUInt32BE(12) * Math.max(1, announced, found);
}

async function* pngChunks(reader: PictureReader): AsyncGenerator<Chunk> {
  for (let at = 8; at + 12 <= reader.size; ) {
    reader.part();
    const head = await reader.bytes(at, 8);
    const chunk = { size: head.readUInt32BE(0), type: head.toString('latin1', 4, 8), at: at + 8 };
    if (chunk.type === 'IEND') return;
    yield chunk;
    at += 12 + chunk.size;
  }
}

/** WebP: the largest size that the canvas, a frame or a bitstream has, times the frames. */
async function webpPixels(reader: PictureReader): Promise<number> {
  let [largest, frames] = [0, 0];
  const note = (width: number, height: number) => {
    largest = Math.max(largest, width * height);
  };
  const measure = async ({ type, at, size }: Chunk): Promise<void> => {
    if (type === 'VP8X') {
      const head = await reader.bytes(at, 10);
      note(1 + head.readUIntLE(4, 3), 1 + head.readUIntLE(7, 3));
    } else if (type === 'VP8 ') {
      const head = await reader.bytes(at, 10);
      note(head.readUInt16LE(6) & 0x3fff, head.readUInt16LE(8) & 0x3fff);
    } else if (type === 'VP8L') {
      const bits = (await reader.bytes(at, 5)).readUInt32LE(1);
      note(1 + (bits & 0x3fff), 1 + ((bits >>> 14) & 0x3fff));
    } else if (type === 'ANMF') {
      frames += 1;
      const head = await reader.bytes(at, 16);
      note(1 + head.readUIntLE(6, 3), 1 + head.readUIntLE(9, 3));
      for await (const chunk of webpChunks(reader, at + 16, at + size)) if (chunk.type !== 'ANMF') await measure(chunk);
    }
  };
  for await (const chunk of webpChunks(reader, 12, reader.size)) await measure(chunk);
  return largest * Math.max(1, frames);
}

async function* webpChunks(reader: PictureReader, start: number, end: number): AsyncGenerator<Chunk> {
  for (let at = start; at + 8 <= Math.min(end, reader.size); ) {
    reader.part();
    const head = await reader.bytes(at, 8);
    const chunk = { type: head.toString('latin1', 0, 4), size: head.readUInt32LE(4), at: at + 8 };
    yield chunk;
    at += 8 + chunk.size + (chunk.size % 2);
  }
}

const EXTENSION = 0x21;
const IMAGE = 0x2c;

/** The bytes of a colour table, by the byte that describes it. */
const tableSize = (flags: number) => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0);

/** Where the sub-blocks of a block end. */
async function behindBlocks(reader: PictureReader, start: number): Promise<number> {
  let at = start;
  for (;;) {
    reader.part();
    const [size = 0] = reader.known(at, 1) ?? (await reader.bytes(at, 1));
    at += 1 + size;
    if (size === 0) return at;
  }
}

/** GIF: each frame is drawn on the whole screen, which a frame may enlarge. */
async function gifPixels(reader: PictureReader): Promise<number> {
  const head = await reader.bytes(0, 13);
  let [width, height, frames] = [head.readUInt16LE(6), head.readUInt16LE(8), 0];
  let at = 13 + tableSize(head[10] ?? 0);
  while (at < reader.size) {
    const [kind] = await reader.bytes(at, 1);
    if (kind === EXTENSION) at = await behindBlocks(reader, at + 2);
    else if (kind === IMAGE) {
      const frame = await reader.bytes(at + 1, 9);
      width = Math.max(width, frame.readUInt16LE(0) + frame.readUInt16LE(4));
      height = Math.max(height, frame.readUInt16LE(2) + frame.readUInt16LE(6));
      frames += 1;
      at = await behindBlocks(reader, at + 11 + tableSize(frame[8] ?? 0));
    } else break;
  }
  if (frames === 0) throw new UnreadablePicture('The picture has no frame');
  return width * height * frames;
}

/** An entry of a directory (IFD): its values, if they are whole numbers of 16 or 32 bits. */
interface Entry {
  tag: number;
  /** Where the values are. */
  at: number;
  count: number;
  /** The first value. */
  value: number;
}

/** A file, or a part of one, whose directories are those of TIFF. */
interface Directories {
  /** Where the first directory is. */
  first: number;
  /** The entries of a directory, and where the next one is; 0: there is none. */
  read(at: number): Promise<{ entries: Entry[]; next: number }>;
  /** A number of 32 bits. */
  long(at: number): Promise<number>;
}

const SHORT = 3;

/** Reads the head of directories. @param base where offsets count from; directories stand behind it */
async function directoriesAt(reader: PictureReader, base: number): Promise<Directories> {
  const order = (await reader.bytes(base, 2)).toString('latin1');
  if (order !== 'II' && order !== 'MM') throw new UnreadablePicture('The picture has no directory');
  const short = (bytes: Buffer, at: number) => (order === 'II' ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at));
  const number = (bytes: Buffer, at: number) => (order === 'II' ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
  const long = async (at: number) => number(await reader.bytes(at, 4), 0);
  return {
    first: base + (await long(base + 4)),
    long,
    async read(at) {
      const length = short(await reader.bytes(at, 2), 0);
      const entries: Entry[] = [];
      for (let index = 0; index < length; index += 1) {
        reader.part();
        const from = at + 2 + 12 * index;
        const entry = await reader.bytes(from, 12);
        const [type, count] = [short(entry, 2), number(entry, 4)];
        const value = type === SHORT ? short(entry, 8) : number(entry, 8);
        entries.push({ tag: short(entry, 0), count, value, at: count > 1 ? base + number(entry, 8) : from + 8 });
      }
      const next = await long(at + 2 + 12 * length);
      return { entries, next: next === 0 ? 0 : base + next };
    },
  };
}

const tags = { width: 256, height: 257, tileWidth: 322, tileHeight: 323, parts: 330 };

/** TIFF: all its pages and layers together. A tile counts as a whole, because it is decoded as one. */
async function tiffPixels(reader: PictureReader): Promise<number> {
  const directories = await directoriesAt(reader, 0);
  const known = new Set<number>();
  const waiting = [directories.first];
  let pixels = 0;
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (at === 0) continue;
    if (known.has(at)) throw new UnreadablePicture('The pages of the picture form a circle');
    known.add(at);
    reader.part();
    const { entries, next } = await directories.read(at);
    pixels += pageOf(entries);
    waiting.push(next, ...(await layersOf(reader, directories, entries)));
  }
  return pixels;
}

function pageOf(entries: readonly Entry[]): number {
  const of = (tag: number) => entries.find((entry) => entry.tag === tag)?.value ?? 0;
  const pixels = of(tags.width) * of(tags.height);
  if (pixels === 0) throw new UnreadablePicture('A page of the picture has no size');
  return Math.max(pixels, of(tags.tileWidth) * of(tags.tileHeight));
}

/** Where the directories of a page's layers are: smaller copies, or parts of a larger picture. */
async function layersOf(reader: PictureReader, { long }: Directories, entries: readonly Entry[]): Promise<number[]> {
  const layers: number[] = [];
  for (const { tag, at, count } of entries) {
    for (let index = 0; tag === tags.parts && index < count; index += 1) {
      reader.part();
      layers.push(await long(at + 4 * index));
    }
  }
  return layers;
}

/** Codes of markers. */
const START = 0xd8;
const END = 0xd9;
const SCAN = 0xda;
const APP2 = 0xe2;

/** Tags of the index of a file with several images (CIPA DC-007). */
const IMAGES = 0xb002;

/** Markers that no length follows. */
const isBare = (code: number) => code === 1 || (code >= 0xd0 && code <= START);

/** Markers of a frame's size: all of 0xc0 to 0xcf but tables and one without a meaning. */
const isFrame = (code: number) => code >= 0xc0 && code <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(code);

/** JPEG: the image, and those that its index names, such as a second view. */
async function jpegPixels(reader: PictureReader): Promise<number> {
  const { pixels, index } = await imageAt(reader, 0);
  let total = pixels;
  for (const at of index === undefined ? [] : await otherImages(reader, index)) {
    // An index may be older than its file: decoders find no image there either.
    total += await imageAt(reader, at).then(
      (other) => other.pixels,
      () => 0,
    );
  }
  return total;
}

/** The pixels of the image that begins there, and where its index of other images is. */
async function imageAt(reader: PictureReader, start: number): Promise<{ pixels: number; index: number | undefined }> {
  let pixels = 0;
  let index: number | undefined;
  if ((await reader.bytes(start, 2)).readUInt16BE(0) !== 0xff00 + START) throw new UnreadablePicture('No image');
  for (let at = start + 2; ; ) {
    reader.part();
    const [mark, code = 0] = reader.known(at, 2) ?? (await reader.bytes(at, 2));
    // As decoders do: bytes before a marker are skipped, and so are fill bytes.
    if (mark !== 0xff || code === 0 || code === 0xff) at += 1;
    else if (isBare(code)) at += 2;
    else if (code === SCAN || code === END) break;
    else {
      const length = (await reader.bytes(at + 2, 2)).readUInt16BE(0);
      if (isFrame(code)) {
        const size = await reader.bytes(at + 5, 4);
        pixels = Math.max(pixels, size.readUInt16BE(0) * size.readUInt16BE(2));
      }
      if (code === APP2 && length >= 16 && (await reader.bytes(at + 4, 4)).toString('latin1') === 'MPF\0')
        index = at + 8;
      at += 2 + Math.max(2, length);
    }
  }
  if (pixels === 0) throw new UnreadablePicture('The picture has no size');
  return { pixels, index };
}

/** Where the images of an index begin, but for the first one, which begins the file. */
async function otherImages(reader: PictureReader, index: number): Promise<number[]> {
  const images: number[] = [];
  try {
    const directories = await directoriesAt(reader, index);
    const { entries } = await directories.read(directories.first);
    for (const { tag, at, count } of entries) {
      for (let image = 0; tag === IMAGES && image < count / 16; image += 1) {
        reader.part();
        const offset = await directories.long(at + 16 * image + 8);
        if (offset !== 0) images.push(index + offset);
      }
    }
  } catch (error) {
    if (!(error instanceof UnreadablePicture)) throw error;
  }
  return images;
}

export { UnreadablePicture } from './pixel-reader';

/** BMP: the size in its head; the height is negative where the lines begin at the top. */
async function bmpPixels(reader: PictureReader): Promise<number> {
  const head = await reader.bytes(14, 12);
  return head.readUInt32LE(0) === 12
    ? head.readUInt16LE(4) * head.readUInt16LE(6)
    : Math.abs(head.readInt32LE(4) * head.readInt32LE(8));
}

/** How the pixels of each type of pictures are read. */
const readers: Readonly<Record<string, (reader: PictureReader) => Promise<number>>> = {
  'image/jpeg': jpegPixels,
  'image/png': pngPixels,
  'image/gif': gifPixels,
  'image/webp': webpPixels,
  'image/avif': heifPixels,
  'image/heic': heifPixels,
  'image/tiff': tiffPixels,
  'image/bmp': bmpPixels,
};

/**
 * The pixels that a picture has when it is unfolded, all its frames, pages and layers together, by what its file says of them:
 * nothing is decoded. Null for a file that is no picture. UnreadablePicture for one without a size, and for one that says it in
 * more parts than are read.
 * @param mime the type of its content, as `kindOf` finds it
 */
export async function pixelsOf(path: string, mime: string): Promise<number | null> {
  const read = readers[mime];
  if (!read) return null;
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const pixels = await read(new PictureReader(file, size));
    if (pixels === 0) throw new UnreadablePicture('The picture has no size');
    return pixels;
  } finally {
    await file.close();
  }
}
