import { type PictureReader, UnreadablePicture } from './reader';
import { directoriesAt } from './tiff';

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
export async function jpegPixels(reader: PictureReader): Promise<number> {
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
