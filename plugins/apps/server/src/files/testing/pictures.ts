import { deflateSync } from 'node:zlib';

/** Pictures whose heads announce more than their files hold, made byte by byte: what a hostile sender would send. */

const be16 = (...values: number[]) => Buffer.concat(values.map((value) => Buffer.from([value >> 8, value & 255])));
const le16 = (...values: number[]) => Buffer.concat(values.map((value) => Buffer.from([value & 255, value >> 8])));
const be32 = (...values: number[]) =>
  Buffer.concat(
    values.map((value) => {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(value);
      return bytes;
    }),
  );
const le24 = (value: number) => Buffer.from([value & 255, (value >> 8) & 255, value >> 16]);
const ascii = (text: string) => Buffer.from(text, 'latin1');

/** Of PNG's chunks, the checksum. */
function crc(bytes: Buffer): number {
  let value = ~0;
  for (const byte of bytes) {
    value ^= byte;
    for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  }
  return ~value >>> 0;
}

const pngChunk = (type: string, data: Buffer) =>
  Buffer.concat([be32(data.length), ascii(type), data, be32(crc(Buffer.concat([ascii(type), data])))]);

/** A PNG of one colour; whole: with the bytes of all lines, else of none. @param more chunks before the content */
export function png(width: number, height: number, { more = [] as Buffer[], whole = false } = {}): Buffer {
  const head = Buffer.concat([be32(width, height), Buffer.from([1, 0, 0, 0, 0])]);
  const lines = whole ? Buffer.alloc((1 + Math.ceil(width / 8)) * height) : Buffer.alloc(1);
  return Buffer.concat([
    ascii('\x89PNG\r\n\x1a\n'),
    pngChunk('IHDR', head),
    ...more,
    pngChunk('IDAT', deflateSync(lines, { level: 9 })),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

/** An animated PNG: what it announces, and the heads of frames that are there. */
export const apng = (width: number, height: number, announced: number, frames: number): Buffer =>
  png(width, height, {
    more: [
      pngChunk('acTL', be32(announced, 0)),
      ...Array.from({ length: frames }, (_, at) => pngChunk('fcTL', Buffer.concat([be32(at), Buffer.alloc(22)]))),
    ],
  });

const segment = (code: number, data: Buffer) => Buffer.concat([Buffer.from([0xff, code]), be16(data.length + 2), data]);

/** A JPEG without a scan. @param frame 0xc0: baseline, 0xc2: progressive, 0xc3: lossless  @param more segments before it */
export const jpeg = (width: number, height: number, frame = 0xc0, more: Buffer[] = []): Buffer =>
  Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    ...more,
    segment(frame, Buffer.concat([Buffer.from([8]), be16(height, width), Buffer.from([1, 1, 0x11, 0])])),
    segment(0xda, Buffer.from([1, 1, 0, 0, 63, 0])),
    Buffer.from([0xff, 0xd9]),
  ]);

/** A JPEG whose index names further images, of the same size. */
export function multiPicture(width: number, height: number, images: number): Buffer {
  const one = jpeg(width, height);
  const entries = (offset: (at: number) => number) =>
    Array.from({ length: images }, (_, at) =>
      Buffer.concat([be32(0, one.length, at === 0 ? 0 : offset(at)), be16(0, 0)]),
    );
  const index = (offset: (at: number) => number) =>
    Buffer.concat([
      ...[ascii('MPF\0MM\0*'), be32(8), be16(1, 0xb002, 7), be32(16 * images, 26), be32(0)],
      ...entries(offset),
    ]);
  // Offsets count from behind `MPF\0`, which stands at 6 in the file.
  const first =
    jpeg(width, height, 0xc0, [
      segment(
        0xe2,
        index(() => 0),
      ),
    ]).length - 10;
  const offset = (at: number) => first + (at - 1) * one.length;
  return Buffer.concat([
    jpeg(width, height, 0xc0, [segment(0xe2, index(offset))]),
    ...Array.from({ length: images - 1 }, () => one),
  ]);
}

/** A GIF whose frames have one pixel each. @param frame the size and position of each: left, top, width, height */
export function gif(width: number, height: number, frames: number, frame = [0, 0, 1, 1]): Buffer {
  const image = Buffer.concat([ascii(','), le16(...frame), Buffer.from([0, 2, 2, 0x44, 1, 0])]);
  const colours = Buffer.from([0x80, 0, 0, 0, 0, 0, 255, 255, 255]);
  const all = Array.from({ length: frames }, () => Buffer.concat([Buffer.from([0x21, 0xf9, 4, 0, 0, 0, 0, 0]), image]));
  return Buffer.concat([ascii('GIF89a'), le16(width, height), colours, ...all, ascii(';')]);
}

const riff = (chunks: Buffer[]) => {
  const data = Buffer.concat(chunks);
  return Buffer.concat([ascii('RIFF'), le16((data.length + 4) & 0xffff, (data.length + 4) >> 16), ascii('WEBP'), data]);
};
const riffChunk = (type: string, data: Buffer) =>
  Buffer.concat([ascii(type), le16(data.length & 0xffff, data.length >> 16), data, Buffer.alloc(data.length % 2)]);

const lossy = (width: number, height: number) =>
  riffChunk('VP8 ', Buffer.concat([Buffer.from([0x10, 0, 0, 0x9d, 1, 0x2a]), le16(width, height)]));

/** A WebP of each form: `lossy`, `lossless`, or extended with frames. */
export const webp = {
  lossy: (width: number, height: number) => riff([lossy(width, height)]),
  lossless(width: number, height: number) {
    const bits = Buffer.alloc(4);
    bits.writeUInt32LE(((width - 1) | ((height - 1) << 14)) >>> 0);
    return riff([riffChunk('VP8L', Buffer.concat([Buffer.from([0x2f]), bits, Buffer.alloc(5)]))]);
  },
  animated(width: number, height: number, frames: number) {
    const size = Buffer.concat([le24(width - 1), le24(height - 1)]);
    const frame = Buffer.concat([Buffer.alloc(6), le24(0), le24(0), le24(100), Buffer.from([0]), lossy(1, 1)]);
    return riff([
      riffChunk('VP8X', Buffer.concat([Buffer.from([2, 0, 0, 0]), size])),
      ...Array.from({ length: frames }, () => riffChunk('ANMF', frame)),
    ]);
  },
};

const box = (type: string, ...data: Buffer[]) => {
  const all = Buffer.concat(data);
  return Buffer.concat([be32(all.length + 8), ascii(type), all]);
};
const full = Buffer.alloc(4);
const size = (width: number, height: number) => box('ispe', full, be32(width, height));
/** Property 1 of each image; references from an image to others. */
const images = (brand: string, property: Buffer, count: number, references: Buffer[] = []) =>
  Buffer.concat([
    box('ftyp', ascii(brand), be32(0), ascii(`mif1${brand}`)),
    box(
      'meta',
      full,
      box(
        'iprp',
        box('ipco', property),
        box(
          'ipma',
          full,
          be32(count),
          ...Array.from({ length: count }, (_, at) => Buffer.concat([be16(at + 1), Buffer.from([1, 1])])),
        ),
      ),
      ...(references.length > 0 ? [box('iref', full, ...references)] : []),
    ),
  ]);

/** AVIF and HEIC: images of one size, of which the last ones may be tiles or the alpha channel of the first; a sequence. */
export const heif = {
  images: (brand: string, width: number, height: number, count: number) => images(brand, size(width, height), count),
  withTiles: (brand: string, width: number, height: number, tiles: number) =>
    images(brand, size(width, height), tiles + 1, [
      box('dimg', be16(1, tiles, ...Array.from({ length: tiles }, (_, at) => at + 2))),
    ]),
  withAlpha: (brand: string, width: number, height: number) =>
    images(brand, size(width, height), 2, [box('auxl', be16(2, 1, 1))]),
  sequence(brand: string, width: number, height: number, frames: number) {
    const entry = box('av01', Buffer.alloc(24), be16(width, height));
    const table = box('stbl', box('stsd', full, be32(1), entry), box('stsz', full, be32(0, frames)));
    const handler = box('hdlr', full, be32(0), ascii('pict'), Buffer.alloc(13));
    return Buffer.concat([
      box('ftyp', ascii(brand), be32(0), ascii('avif')),
      box('moov', box('trak', box('mdia', handler, box('minf', table)))),
    ]);
  },
};

type Entry = [tag: number, type: 3 | 4, count: number, value: number];

/** A TIFF with these directories, one after the other; null of the last `next`: the first directory again. */
export function tiff(pages: readonly Entry[][], { circle = false } = {}): Buffer {
  const length = (page: readonly Entry[]) => 2 + 12 * page.length + 4;
  let at = 8;
  const parts = pages.map((page, index) => {
    at += length(page);
    const isLast = index === pages.length - 1;
    const entries = page.map(([tag, type, count, value]) =>
      Buffer.concat([be16(tag, type), be32(count), type === 3 ? be16(value, 0) : be32(value)]),
    );
    return Buffer.concat([be16(page.length), ...entries, be32(isLast ? (circle ? 8 : 0) : at)]);
  });
  return Buffer.concat([ascii('MM\0*'), be32(8), ...parts]);
}

/** The entries of a page's size. */
export const page = (width: number, height: number, more: Entry[] = []): Entry[] => [
  [256, 4, 1, width],
  [257, 4, 1, height],
  ...more,
];

/** A BMP's head. */
export function bmp(width: number, height: number): Buffer {
  const head = Buffer.alloc(54);
  head.write('BM');
  head.writeUInt32LE(40, 14);
  head.writeInt32LE(width, 18);
  head.writeInt32LE(height, 22);
  return head;
}
