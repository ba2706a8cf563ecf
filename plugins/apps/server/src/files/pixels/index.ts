import { open } from 'node:fs/promises';
import { gifPixels, pngPixels, webpPixels } from './chunks';
import { heifPixels } from './heif';
import { jpegPixels } from './jpeg';
import { PictureReader, UnreadablePicture } from './reader';
import { tiffPixels } from './tiff';

export { UnreadablePicture } from './reader';

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
