import { access, constants } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { ImageAnswers, ImageFile, PictureInput, PictureOutput } from './types';

/** Strapi's image service: functions of a file, each of which reads it by sharp. */
type ImageService = Record<string, ((file: ImageFile) => Promise<unknown>) | undefined>;

/** The part of sharp that counts pixels. */
interface Sharp {
  (
    path: string,
    options: object,
  ): {
    metadata(): Promise<{ width?: number; height?: number; pages?: number }>;
  };
  cache(use: boolean): void;
  concurrency(threads: number): void;
}

/** An error of the disk, not of the picture. */
const NO_SPACE = /no space left|ENOSPC/i;

/** Milliseconds between two looks at the process' memory. */
const WATCH = 20;

/**
 * Does with a picture what Strapi's image service would do in the server: counts its pixels, decodes it, optimizes it, makes its
 * smaller forms. Runs in a process of its own (docs/decisions/pictures.md). Throws where it cannot work at all, which is no fault of
 * the picture. The process ends itself above `maxMemory`: sharp works in threads, so that the timer comes in time.
 */
export async function preparePicture(input: PictureInput): Promise<PictureOutput> {
  const { file, maxPixels, maxMemory } = input;
  await access(file.filepath, constants.R_OK);
  const { sharp, images } = load(input);
  const watch = setInterval(() => {
    if (process.memoryUsage.rss() > maxMemory) process.kill(process.pid, 'SIGKILL');
  }, WATCH);
  try {
    const { width = 0, height = 0, pages = 1 } = await sharp(file.filepath, { limitInputPixels: false }).metadata();
    if (width * height * pages > maxPixels) return { problem: 'large' };
    return input.onlyMeasures ? { answers: null } : await answersOf(images, file);
  } catch (error) {
    if (NO_SPACE.test(String(error))) throw error;
    return { problem: 'unreadable' };
  } finally {
    clearInterval(watch);
  }
}

/** The calls of Strapi's upload service in their order. */
async function answersOf(images: ImageService, file: ImageFile): Promise<PictureOutput> {
  const is = async (what: string, of: ImageFile) => Boolean(await images[what]?.(of));
  if (!(await is('isImage', file))) return { answers: noImage };
  if (await is('isFaultyImage', file)) return { problem: 'unreadable' };
  const isOptimizableImage = await is('isOptimizableImage', file);
  const changed = isOptimizableImage ? ((await images.optimize?.(file)) as ImageFile) : file;
  const dimensions = (await images.getDimensions?.(changed)) as ImageAnswers['dimensions'];
  const measured = { ...changed, ...dimensions };
  const isResizableImage = await is('isResizableImage', measured);
  const smaller = async (what: string) => (isResizableImage ? await images[what]?.(measured) : null);
  const thumbnail = (await smaller('generateThumbnail')) as ImageFile | null;
  const formats = ((await smaller('generateResponsiveFormats')) ?? []) as ImageAnswers['formats'];
  return {
    answers: {
      isImage: true,
      isOptimizableImage,
      isResizableImage,
      optimized: changed.filepath === file.filepath ? null : plain(changed),
      dimensions,
      thumbnail: thumbnail && plain(thumbnail),
      formats: formats.filter(Boolean).map((format) => ({ key: format.key, file: plain(format.file) })),
    },
  };
}

/** What Strapi's image service answers about a file that it does not work on. */
export const noImage: ImageAnswers = {
  isImage: false,
  isOptimizableImage: false,
  isResizableImage: false,
  optimized: null,
  dimensions: { width: null, height: null },
  thumbnail: null,
  formats: [],
};

/** A file without its functions, which no message carries. */
const plain = (file: ImageFile) =>
  Object.fromEntries(Object.entries(file).filter(([, value]) => typeof value !== 'function')) as ImageFile;

let loaded: { module: string; sharp: Sharp; images: ImageService } | undefined;

/** Strapi's image service as Strapi wrote it, with the settings that it asks Strapi for, and the sharp that it uses. */
function load({ module, settings, breakpoints }: PictureInput) {
  Object.assign(globalThis, {
    strapi: {
      plugin: () => ({ service: () => ({ getSettings: async () => settings }) }),
      config: { get: (_key: string, usual: unknown) => breakpoints ?? usual },
    },
  });
  if (loaded?.module === module) return loaded;
  const required = createRequire(module);
  const sharp = required('sharp') as Sharp;
  sharp.cache(false);
  sharp.concurrency(1);
  loaded = { module, sharp, images: required(module) as ImageService };
  return loaded;
}
