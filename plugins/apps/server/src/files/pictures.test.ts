import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { buildWorker } from '../../build.mjs';
import { isAppsError } from '../common/errors';
import type { ImageAnswers, ImageFile } from './picture-task';
import {
  checkedAnswers,
  createImageSwap,
  createPictures,
  type ImageService,
  type PictureLimits,
  type PictureRefused,
  type Pictures,
  pictureLimits,
} from './pictures';
import { png } from './testing/pictures';
import type { TemporaryFile } from './types';

let folder: string;
const opened: Pictures[] = [];
const logger = { error: vi.fn() };
const swapped = createImageSwap();
const module = swapped.module ?? '';
const own = createRequire(module)(module) as ImageService;
/** The service that Strapi's upload service would get. */
const service = swapped.wrap(own) as Record<string, (file: object) => Promise<unknown>>;

const settings = { sizeOptimization: true, responsiveDimensions: true };

function picturesOf(limits: Partial<PictureLimits> = {}, images = swapped): Pictures {
  const pictures = createPictures({
    images,
    path: join(folder, 'worker.js'),
    folder: join(folder, 'held'),
    logger,
    sandbox: { command: [] },
    settings: async () => ({ settings, breakpoints: { small: 100 } }),
    limits: { ...pictureLimits(50_000_000), ...limits },
  });
  opened.push(pictures);
  return pictures;
}

let made = 0;
async function fileOf(content: Buffer, mime = 'image/png', app = 'app'): Promise<TemporaryFile> {
  await mkdir(join(folder, 'held'), { recursive: true });
  const path = join(folder, 'held', `upload-${++made}`);
  await writeFile(path, content);
  return {
    site: 'site',
    app,
    field: 'f',
    token: '',
    path,
    name: 'a.png',
    chosen: 'A.png',
    mime,
    size: 1,
    digest: '',
    pixels: 1,
  };
}

/** Asks the service as Strapi's upload service does. */
const asked = ({ name, mime, path }: TemporaryFile) => ({
  name,
  mime,
  ext: '.png',
  hash: 'a_1',
  filepath: path,
  tmpWorkingDirectory: '/none',
  folder: 7,
  getStream: () => undefined,
});

async function uploaded(pictures: Pictures, file: TemporaryFile) {
  return pictures.upload(file, async () => {
    const given = asked(file);
    if (!(await service.isImage?.(given))) return null;
    const changed = (await service.optimize?.(given)) as ImageFile;
    const thumbnail = (await service.generateThumbnail?.(changed)) as
      | (ImageFile & { getStream(): AsyncIterable<Buffer> })
      | null;
    const chunks: Buffer[] = [];
    for await (const chunk of thumbnail?.getStream() ?? []) chunks.push(chunk);
    return { changed, dimensions: await service.getDimensions?.(changed), thumbnail, bytes: Buffer.concat(chunks) };
  });
}

const refusal = (error: PictureRefused) => error.refused;
const photo = png(600, 400, { whole: true });
/** A picture that takes a while. */
const heavy = () => png(6_000, 6_000, { whole: true });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'apps-pictures-'));
  await buildWorker(join(folder, 'worker.js'));
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((pictures) => pictures.destroy()));
});
afterAll(() => rm(folder, { recursive: true }));

describe('a picture', () => {
  test('is worked on in another process, and its files are gone afterwards', async () => {
    const pictures = picturesOf();
    const found = await uploaded(pictures, await fileOf(photo));
    expect(found).toMatchObject({
      dimensions: { width: 600, height: 400 },
      changed: { folder: 7, mime: 'image/png' },
      thumbnail: { name: 'thumbnail_a.png', hash: 'thumbnail_a_1', width: 234, height: 156 },
    });
    expect(found?.bytes.subarray(1, 4).toString()).toBe('PNG');
    expect((await readdir(join(folder, 'held'))).filter((name) => name.startsWith('picture-'))).toEqual([]);
    expect(await uploaded(pictures, await fileOf(Buffer.from('%PDF-1.4'), 'application/pdf'))).toBeNull();
  });

  test.each<[what: string, limits: Partial<PictureLimits>, content: () => Buffer, refused: object]>([
    ['that is broken', {}, () => photo.subarray(0, 60), { problem: 'file_unreadable', values: { name: 'A.png' } }],
    [
      'whose decoder finds more pixels than are allowed',
      { pixels: 239_999 },
      () => photo,
      { problem: 'file_pixels', values: { name: 'A.png', pixels: 239_999 } },
    ],
    ['that takes too long', { time: 60 }, heavy, { problem: 'file_costly', values: { name: 'A.png' } }],
    ['that takes too much memory', { memory: 1 }, heavy, { problem: 'file_costly', values: { name: 'A.png' } }],
  ])('%s is refused, and the next one is taken', async (_what, limits, content, refused) => {
    const error = await uploaded(picturesOf(limits), await fileOf(content())).catch(refusal);
    expect(error).toEqual(refused);
    expect(await uploaded(picturesOf(), await fileOf(photo))).not.toBeNull();
  });

  test('waits in a queue, in which one app has half; a full one is 503 with Retry-After', async () => {
    const pictures = picturesOf();
    const sent = async (app: string) =>
      uploaded(pictures, await fileOf(photo, 'image/png', app)).then(
        () => 201,
        (error) => error,
      );
    const answers = await Promise.all(Array.from({ length: 12 }, () => sent('one')));
    const refused = answers.filter((answer) => answer !== 201);
    expect(refused).toHaveLength(3);
    for (const error of refused) {
      expect(isAppsError(error, 'ServiceUnavailableError')).toBe(true);
      expect(error.headers).toEqual({ 'Retry-After': '5' });
    }
    const beside = await Promise.all([...Array.from({ length: 12 }, () => sent('one')), sent('other')]);
    expect(beside.at(-1)).toBe(201);
  });
});

test('uploads of others get what Strapi finds', async () => {
  const given = { ...asked(await fileOf(photo)), getStream: undefined };
  expect([await service.isImage?.(given), await service.getDimensions?.(given)]).toEqual([
    true,
    expect.objectContaining({ width: 600, height: 400 }),
  ]);
});

test("a host's own image service stays in use, with pictures within the limits only", async () => {
  const images = createImageSwap(module);
  const changed = { ...own, optimize: async () => 'own' };
  expect(images.wrap(changed)).toBe(changed);
  expect(images.isStrapis).toBe(false);
  const pictures = picturesOf({ pixels: 300_000 }, images);
  expect(await pictures.upload(await fileOf(photo), async () => changed.optimize())).toBe('own');
  const large = await fileOf(png(1_000, 400, { whole: true }));
  const upload = vi.fn();
  expect(await pictures.upload(large, upload).catch(refusal)).toMatchObject({ problem: 'file_pixels' });
  expect(upload).not.toHaveBeenCalled();
});

test('a Strapi without the image service takes no pictures, and says why', async () => {
  const images = createImageSwap(null);
  expect(images.wrap({})).toEqual({});
  await expect(picturesOf({}, images).upload(await fileOf(photo), async () => 1)).rejects.toThrow('no image service');
});

describe('what the process says', () => {
  const file = {
    name: 'a.png',
    hash: 'a_1',
    ext: '.png',
    mime: 'image/png',
    filepath: '/held/upload-1',
    tmpWorkingDirectory: '/held/picture-1',
  };
  const thumbnail = {
    name: 'thumbnail_a.png',
    hash: 'thumbnail_a_1',
    ext: '.png',
    mime: 'image/png',
    path: null,
    filepath: '/held/picture-1/thumbnail_a_1',
    width: 2,
    height: 1,
    size: 0.1,
    sizeInBytes: 100,
  };
  const answers = (of: object) =>
    ({
      isImage: true,
      isOptimizableImage: true,
      isResizableImage: true,
      optimized: null,
      formats: [],
      dimensions: { width: 2, height: 1 },
      thumbnail: { ...thumbnail, ...of },
    }) as unknown as ImageAnswers;

  test('is taken as it is where it is what Strapi makes, without more', () => {
    expect(checkedAnswers(answers({ provider: 'x' }), file)).toEqual(answers({}));
  });

  test.each<[object]>([
    [{ filepath: '/etc/passwd' }],
    [{ filepath: '/held/picture-1/../upload-2' }],
    [{ ext: '.html' }],
    [{ mime: 'text/html' }],
    [{ hash: '../../server/a_1' }],
    [{ hash: 'other' }],
    [{ name: 'other.png' }],
    [{ width: 'x' }],
    [{ size: Number.NaN }],
  ])('is refused with %j', (of) => {
    expect(() => checkedAnswers(answers(of), file)).toThrow();
  });
});
