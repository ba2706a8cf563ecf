import { access, constants } from 'node:fs/promises';
import { createRequire } from 'node:module';

/** A file as Strapi's upload service hands it to its image service, without its functions. */
export interface ImageFile {
  name: string;
  /** The name of its file in the media library, without its ending. */
  hash: string;
  /** The ending, with its dot. */
  ext: string;
  mime: string;
  /** Path of its content. */
  filepath: string;
  /** Folder for the files that are made of it. */
  tmpWorkingDirectory: string;
  [more: string]: unknown;
}

/** A picture for the process that works on it. */
export interface PictureInput {
  /** Path of the module of Strapi's image service. */
  module: string;
  file: ImageFile;
  /** Settings of the media library: `sizeOptimization`, `autoOrientation`, `responsiveDimensions`. */
  settings: object;
  /** `breakpoints` of the configuration of Strapi's upload plugin; undefined: Strapi's own. */
  breakpoints: unknown;
  /** Pixels of all frames. */
  maxPixels: number;
  /** Bytes of the process' resident memory. */
  maxMemory: number;
  /** Whether only its pixels are counted. */
  onlyMeasures: boolean;
}

/** What Strapi's image service answers about one picture. */
export interface ImageAnswers {
  isImage: boolean;
  isOptimizableImage: boolean;
  isResizableImage: boolean;
  /** Null where the file stays. */
  optimized: ImageFile | null;
  dimensions: { width: number | null; height: number | null };
  thumbnail: ImageFile | null;
  formats: { key: string; file: ImageFile }[];
}

/** Why a picture is not taken: more pixels than `maxPixels`, or it cannot be decoded. */
export type PictureProblem = 'large' | 'unreadable';

/** Null answers: it was only measured. */
export type PictureOutput = { problem: PictureProblem } | { answers: ImageAnswers | null };

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
