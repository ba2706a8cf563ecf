import { type PictureReader, UnreadablePicture } from './reader';

/** An entry of a directory (IFD): its values, if they are whole numbers of 16 or 32 bits. */
export interface Entry {
  tag: number;
  /** Where the values are. */
  at: number;
  count: number;
  /** The first value. */
  value: number;
}

/** A file, or a part of one, whose directories are those of TIFF. */
export interface Directories {
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
