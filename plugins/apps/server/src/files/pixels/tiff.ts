import { type Directories, directoriesAt, type Entry } from './directories';
import { type PictureReader, UnreadablePicture } from './reader';

const tags = { width: 256, height: 257, tileWidth: 322, tileHeight: 323, parts: 330 };

/** TIFF: all its pages and layers together. A tile counts as a whole, because it is decoded as one. */
export async function tiffPixels(reader: PictureReader): Promise<number> {
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
