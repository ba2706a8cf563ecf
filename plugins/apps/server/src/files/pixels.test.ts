import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { kindOf } from './kinds';
import { MAX_PARTS } from './pixel-reader';
import { pixelsOf, UnreadablePicture } from './pixels';
import { apng, bmp, gif, heif, jpeg, multiPicture, page, png, tiff, webp } from './testing/pictures';

let folder: string;
let made = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'apps-pixels-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** The pixels of a picture, as those of an uploaded file are found. */
async function measured(bytes: Buffer): Promise<number | null> {
  const path = join(folder, String(++made));
  await writeFile(path, bytes);
  return pixelsOf(path, kindOf(bytes.subarray(0, 4_096), '')?.mime ?? '');
}

const many = (count: number, one: Buffer) => Buffer.concat(Array.from({ length: count }, () => one));

describe('pictures of a few bytes that unfold', () => {
  test.each<[what: string, bytes: Buffer, pixels: number]>([
    ['PNG', png(60_000, 50_000), 3e9],
    ['APNG with frames', apng(1_000, 1_000, 3, 200), 2e8],
    ['APNG that announces frames', apng(1_000, 1_000, 0xffffffff, 1), 0xffffffff * 1e6],
    ['JPEG', jpeg(65_500, 65_500), 65_500 ** 2],
    ['progressive JPEG', jpeg(65_000, 1_000, 0xc2), 65e6],
    ['lossless JPEG', jpeg(40_000, 40_000, 0xc3), 16e8],
    ['JPEG behind tables', jpeg(9_000, 9_000, 0xc0, [Buffer.from([255, 255, 0xc4, 0, 3, 0, 7, 7])]), 81e6],
    ['JPEG with several sizes', jpeg(9_000, 9_000, 0xc0, [jpeg(10, 10).subarray(2, 15)]), 81e6],
    ['JPEG with several images', multiPicture(8_000, 5_000, 5), 2e8],
    ['GIF with a large screen', gif(65_535, 65_535, 1), 65_535 ** 2],
    ['GIF with frames', gif(1_000, 1_000, 400), 4e8],
    ['GIF with a frame outside of its screen', gif(1, 1, 1, [60_000, 60_000, 5_000, 5_000]), 65_000 ** 2],
    ['lossy WebP', webp.lossy(16_383, 16_383), 16_383 ** 2],
    ['lossless WebP', webp.lossless(16_384, 16_384), 16_384 ** 2],
    ['animated WebP', webp.animated(4_000, 4_000, 300), 48e8],
    ['AVIF', heif.images('avif', 65_536, 65_536, 1), 65_536 ** 2],
    ['AVIF with several images', heif.images('avif', 5_000, 5_000, 40), 1e9],
    ['AVIF of tiles', heif.withTiles('avif', 40_000, 40_000, 100), 16e8],
    ['AVIF sequence', heif.sequence('avis', 4_000, 4_000, 1_000), 16e9],
    ['HEIC', heif.images('heic', 30_000, 30_000, 1), 9e8],
    ['HEIC with an alpha channel', heif.withAlpha('heic', 10_000, 10_000), 1e8],
    ['TIFF', tiff([page(50_000, 50_000)]), 25e8],
    ['TIFF with pages', tiff(Array.from({ length: 500 }, () => page(1_000, 1_000))), 5e8],
    [
      'TIFF of large tiles',
      tiff([
        page(10, 10, [
          [322, 4, 1, 60_000],
          [323, 4, 1, 60_000],
        ]),
      ]),
      36e8,
    ],
    // The layer's directory stands behind that of its page: 8 bytes, 2 and 3 entries, 4 bytes.
    [
      'TIFF with a layer',
      Buffer.concat([tiff([page(10, 10, [[330, 4, 1, 50]])]), tiff([page(9_000, 9_000)]).subarray(8)]),
      81e6 + 100,
    ],
    ['BMP', bmp(30_000, 30_000), 9e8],
    ['BMP that begins at the top', bmp(30_000, -30_000), 9e8],
  ])('%s', async (_what, bytes, pixels) => {
    expect(bytes.length).toBeLessThan(30_000);
    expect(await measured(bytes)).toBe(pixels);
  });
});

describe('pictures that cannot be measured', () => {
  test.each<[what: string, bytes: Buffer]>([
    ['PNG without its head', png(1, 1).subarray(0, 20)],
    ['PNG without a size', png(0, 10)],
    ['JPEG without a frame', Buffer.concat([jpeg(1, 1).subarray(0, 2), jpeg(1, 1).subarray(-12)])],
    ['JPEG whose height follows later', jpeg(1_000, 0)],
    ['JPEG with PHP', Buffer.from('\xff\xd8\xff<?php system($_GET[1]) ?>', 'latin1')],
    ['GIF with JavaScript', Buffer.from('GIF89a/*<script>*/=1;alert(1)')],
    ['GIF without a frame', gif(10, 10, 0)],
    ['WebP without a bitstream', webp.animated(1, 1, 0).subarray(0, 20)],
    ['AVIF without a size', heif.sequence('avif', 0, 0, 1)],
    ['AVIF with a box larger than its file', heif.images('avif', 1, 1, 1).subarray(0, -1)],
    ['TIFF whose pages form a circle', tiff([page(1, 1), page(1, 1)], { circle: true })],
    ['TIFF with a page without a size', tiff([page(1, 1), []])],
    ['GIF of too many blocks', Buffer.concat([gif(1, 1, 1).subarray(0, -2), many(MAX_PARTS + 1, Buffer.from([1, 0]))])],
    [
      'JPEG of too many markers',
      Buffer.concat([Buffer.from([0xff, 0xd8]), many(MAX_PARTS + 1, Buffer.from([0xff, 0xd0]))]),
    ],
    // Each entry of the page leads to another part of a large file.
    [
      'TIFF with too many jumps',
      (() => {
        const pages = Buffer.alloc(5_000 * 40_000);
        for (let at = 0; at < 5_000; at += 1) tiff([page(1, 1)]).copy(pages, at * 40_000, 8);
        for (let at = 0; at < 4_999; at += 1)
          pages.writeUInt32BE(8 + (4_998 - at === at ? 0 : (at + 1) * 40_000), at * 40_000 + 26);
        return Buffer.concat([tiff([page(1, 1)]).subarray(0, 8), pages]);
      })(),
    ],
  ])('%s', async (_what, bytes) => {
    await expect(measured(bytes)).rejects.toThrow(UnreadablePicture);
  });
});

test('a file that is no picture has no pixels', async () => {
  expect(await measured(Buffer.from('%PDF-1.4\n'))).toBeNull();
});

/** What encoders make: the sharp of Strapi's upload plugin. */
describe('pictures of an encoder', async () => {
  const strapi = createRequire(__filename).resolve('@strapi/strapi/package.json');
  const sharp = createRequire(createRequire(strapi).resolve('@strapi/upload/package.json'))('sharp');
  const one = (channels: 3 | 4 = 3) =>
    sharp({ create: { width: 300, height: 200, channels, background: { r: 10, g: 99, b: 7, alpha: 0.5 } } });
  const frames = (count: number) =>
    sharp(
      Array.from({ length: count }, (_, at) => ({
        create: { width: 30, height: 20, channels: 3, background: { r: at * 40, g: 0, b: 0 } },
      })),
      { join: { animated: true } },
    );
  const made: [string, () => Promise<Buffer>, number][] = [
    ['PNG', () => one().png().toBuffer(), 60_000],
    ['interlaced PNG', () => one(4).png({ progressive: true }).toBuffer(), 60_000],
    ['JPEG', () => one().jpeg().toBuffer(), 60_000],
    ['progressive JPEG', () => one().jpeg({ progressive: true }).toBuffer(), 60_000],
    ['JPEG with a profile', () => one().withMetadata({ orientation: 6 }).jpeg().toBuffer(), 60_000],
    ['WebP', () => one().webp().toBuffer(), 60_000],
    ['WebP with transparency', () => one(4).webp().toBuffer(), 60_000],
    ['lossless WebP', () => one(4).webp({ lossless: true }).toBuffer(), 60_000],
    ['AVIF', () => one().avif({ effort: 0 }).toBuffer(), 60_000],
    ['AVIF with transparency', () => one(4).avif({ effort: 0 }).toBuffer(), 60_000],
    ['GIF', () => one().gif().toBuffer(), 60_000],
    ['TIFF', () => one().tiff({ compression: 'lzw' }).toBuffer(), 60_000],
    ['tiled TIFF', () => one().tiff({ tile: true, tileWidth: 64, tileHeight: 64 }).toBuffer(), 60_000],
    [
      'TIFF of smaller and smaller pages',
      () => one().tiff({ pyramid: true, tile: true, tileWidth: 128, tileHeight: 128 }).toBuffer(),
      60_000 + 16_384 * 2,
    ],
    ['animated GIF', () => frames(5).gif().toBuffer(), 3_000],
    ['animated WebP', () => frames(5).webp().toBuffer(), 3_000],
    ['TIFF with pages', () => frames(5).tiff().toBuffer(), 3_000],
  ];
  test.each(made)('%s', async (_what, make, pixels) => {
    expect(await measured(await make())).toBe(pixels);
  });
});
