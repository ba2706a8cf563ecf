import { createRequire } from 'node:module';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  apng,
  bmp,
  gif,
  heif,
  jpeg,
  multiPicture,
  page,
  png,
  tiff,
  webp,
} from '../../../plugins/apps/server/src/files/testing/pictures';
import type { Stage } from '../../support/stage';
import type { Answer, Part } from './send';

interface Tools {
  /** The address of the form, below the apps. */
  block: string;
  post(parts: Part[], target?: string, accept?: string): Promise<Answer>;
  held(): Promise<string[]>;
  names(): Promise<string[]>;
}

/** A file of the media library. */
interface Row {
  name: string;
  ext: string;
  mime: string;
  size: number;
  width: number | null;
  height: number | null;
  formats: Record<string, object> | null;
}

/** The sharp of Strapi's upload plugin, to make pictures with. */
const strapi = createRequire(__filename).resolve('@strapi/strapi/package.json');
const sharp = createRequire(createRequire(strapi).resolve('@strapi/upload/package.json'))('sharp');

/** A picture of 1,200 × 900 pixels, squares of colours, turned by its EXIF. */
const photo = () =>
  sharp(Buffer.from(Array.from({ length: 12 * 9 * 3 }, (_, at) => (at * 7919) % 251)), {
    raw: { width: 12, height: 9, channels: 3 },
  })
    .resize(1_200, 900, { kernel: 'nearest' })
    .withMetadata({ orientation: 6 });

const frames = () =>
  sharp(
    Array.from({ length: 4 }, (_, at) => ({
      create: { width: 400, height: 300, channels: 3, background: { r: at * 60, g: 0, b: 0 } },
    })),
    { join: { animated: true } },
  );

const whole: [ending: string, make: () => Promise<Buffer>][] = [
  ['jpg', () => photo().jpeg().toBuffer()],
  ['png', () => photo().png().toBuffer()],
  ['webp', () => photo().webp().toBuffer()],
  ['tiff', () => photo().tiff({ compression: 'lzw' }).toBuffer()],
  ['avif', () => photo().avif({ effort: 0 }).toBuffer()],
  ['gif', () => frames().gif().toBuffer()],
];

/** Pictures of a few kB that unfold to more than `limits.imagePixels`. */
export const unfolding: [what: string, content: Buffer][] = [
  ['PNG', png(16_383, 16_383, { whole: true })],
  ['APNG', apng(1_000, 1_000, 60, 60)],
  ['JPEG', jpeg(65_500, 65_500)],
  ['progressive JPEG', jpeg(65_500, 65_500, 0xc2)],
  ['JPEG with several images', multiPicture(5_000, 4_000, 3)],
  ['GIF with a large screen', gif(65_535, 65_535, 1)],
  ['GIF with frames', gif(1_000, 1_000, 60)],
  ['lossy WebP', webp.lossy(16_383, 16_383)],
  ['lossless WebP', webp.lossless(16_384, 16_384)],
  ['animated WebP', webp.animated(4_000, 4_000, 4)],
  ['AVIF', heif.images('avif', 10_000, 10_000, 1)],
  ['AVIF sequence', heif.sequence('avis', 1_000, 1_000, 51)],
  ['HEIC', heif.images('heic', 10_000, 10_000, 1)],
  ['TIFF with pages', tiff(Array.from({ length: 51 }, () => page(1_000, 1_000)))],
  [
    'TIFF of large tiles',
    tiff([
      page(10, 10, [
        [322, 4, 1, 60_000],
        [323, 4, 1, 60_000],
      ]),
    ]),
  ],
  ['BMP', bmp(30_000, -30_000)],
];

export function pictures(stage: Stage, { block, post, held, names }: Tools): void {
  const json = 'application/json';
  const rows = () =>
    stage.host.run(
      (strapi) => strapi.db.query('plugin::upload.file').findMany({ orderBy: 'id' }) as unknown as Promise<Row[]>,
    );
  const saved = async (parts: Part[]): Promise<string> => {
    const answer = await post(parts, block, json);
    expect([answer.status, answer.errors]).toEqual([201, []]);
    return (JSON.parse(answer.text) as { id: string }).id;
  };
  const remove = async (id: string) => {
    await stage.send({ send: `DELETE forms/record/${id}` });
    await expect.poll(names).toEqual([]);
  };

  describe('pictures', () => {
    /** What earlier forms have kept. */
    let before: string[];
    beforeEach(async () => {
      await stage.host.run((strapi) => strapi.db.query('plugin::upload.file').deleteMany({}));
      before = await held();
    });

    test.each(unfolding)(
      '%s that unfolds is refused, in a field of pictures and one of files',
      async (_what, content) => {
        for (const name of ['photo', 'more']) {
          const { status, errors } = await post([{ name, file: 'a.bin', content }], block, json);
          expect([status, errors]).toEqual([
            422,
            [{ path: [name], message: 'This picture is too large, it may have at most 50,000,000 pixels: a.bin' }],
          ]);
        }
        expect(await names()).toEqual([]);
        await expect.poll(async () => (await held()).filter((name) => !before.includes(name))).toEqual([]);
      },
    );

    test('a picture of more pixels than its element takes is refused, one of as many is taken', async () => {
      const wide = (width: number): Part => ({
        name: 'photo',
        file: 'w.png',
        content: png(width, 1_000, { whole: true }),
      });
      const { status, errors } = await post([wide(2_001)], block, json);
      expect([status, errors]).toEqual([
        422,
        [{ path: ['photo'], message: 'This picture is too large, it may have at most 2,000,000 pixels: w.png' }],
      ]);
      await remove(await saved([wide(2_000)]));
    });

    test.each(whole)(
      'a picture is stored as by an upload of Strapi, without sharp in the server: %s',
      async (ending, make) => {
        const content = await make();
        /** How often the server's own sharp has worked since the last call. */
        const worked = () =>
          stage.host.run(() => {
            const all = globalThis as { sharpCalls?: number };
            if (all.sharpCalls === undefined) {
              const { createRequire: from } = process.getBuiltinModule('node:module');
              const main = from(`${process.cwd()}/package.json`).resolve('@strapi/strapi/package.json');
              const { queue } = from(from(main).resolve('@strapi/upload/package.json'))('sharp');
              queue.on('change', () => {
                all.sharpCalls = (all.sharpCalls ?? 0) + 1;
              });
            }
            const calls = all.sharpCalls ?? 0;
            all.sharpCalls = 0;
            return calls;
          });
        await worked();
        const id = await saved([{ name: ending === 'tiff' ? 'more' : 'photo', file: `p.${ending}`, content }]);
        expect(await worked()).toBe(0);
        const [own] = await rows();
        await remove(id);
        await stage.host.run(
          async (strapi, bytes, name, mime) => {
            const { writeFileSync } = process.getBuiltinModule('node:fs');
            const filepath = `${process.getBuiltinModule('node:os').tmpdir()}/${name}`;
            writeFileSync(filepath, Buffer.from(bytes, 'base64'));
            const files = {
              filepath,
              originalFilename: name,
              mimetype: mime,
              size: Buffer.from(bytes, 'base64').length,
            };
            await strapi
              .plugin('upload')
              .service('upload')
              .upload({ data: { fileInfo: { name } }, files });
          },
          content.toString('base64'),
          `p.${ending}`,
          own?.mime ?? '',
        );
        // Of an AVIF it reads the head only.
        if (ending !== 'avif') expect(await worked()).toBeGreaterThan(0);
        const [theirs] = await rows();
        await stage.host.run((strapi) => strapi.db.query('plugin::upload.file').deleteMany({}));
        // Names of files and addresses have random letters.
        const shown = ({ name, ext, mime, size, width, height, formats }: Row) =>
          JSON.stringify({ name, ext, mime, size, width, height, formats }, (key, value) =>
            key === 'hash' || key === 'url' ? value.replace(/_[0-9a-f]{10}/, '') : value,
          );
        // Strapi makes the formats at the same time, so that their order is not certain.
        expect(JSON.parse(shown(own as Row))).toEqual(JSON.parse(shown(theirs as Row)));
        if (ending !== 'avif') expect(own?.formats).toHaveProperty('thumbnail');
      },
    );

    test('the event of Strapi is sent', async () => {
      await stage.host.run((strapi) => {
        strapi.eventHub.on('media.create', async ({ media }: { media: { name: string } }) => {
          (globalThis as { createdMedia?: string }).createdMedia = media.name;
        });
      });
      const id = await saved([{ name: 'photo', file: 'event.png', content: png(500, 400, { whole: true }) }]);
      expect(await stage.host.run(() => (globalThis as { createdMedia?: string }).createdMedia)).toBe('event.png');
      await remove(id);
    });

    test('a picture that its decoder does not take is refused, and nothing of it stays', async () => {
      const broken = png(300, 300);
      const { status, errors } = await post([{ name: 'photo', file: 'b.png', content: broken }], block, json);
      expect([status, errors]).toEqual([422, [{ path: ['photo'], message: 'This picture cannot be read: b.png' }]]);
      expect(await names()).toEqual([]);
      await expect.poll(async () => (await held()).filter((name) => !before.includes(name))).toEqual([]);
    });
  });
}
