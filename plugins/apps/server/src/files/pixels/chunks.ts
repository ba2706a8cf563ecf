import { type PictureReader, UnreadablePicture } from './reader';

/** A chunk of a PNG or WebP file: its type, and where its data are. */
interface Chunk {
  type: string;
  at: number;
  size: number;
}

/** PNG: the size of the image, times the frames of an animation, by what it announces and by those that are there. */
export async function pngPixels(reader: PictureReader): Promise<number> {
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
export async function webpPixels(reader: PictureReader): Promise<number> {
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
export async function gifPixels(reader: PictureReader): Promise<number> {
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
