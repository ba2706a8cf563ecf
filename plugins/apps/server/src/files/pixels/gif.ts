import { type PictureReader, UnreadablePicture } from './reader';

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
