import { type PictureReader, UnreadablePicture } from './reader';

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
export async function directoriesAt(reader: PictureReader, base: number): Promise<Directories> {
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
