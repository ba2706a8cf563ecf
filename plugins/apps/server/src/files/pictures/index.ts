import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { unavailable } from '../../common/errors';
import type { SandboxConfig } from '../../config.types';
import { createSemaphore, createWorkers, WorkerFailure } from '../../workers';
import type { RefusedFile, TemporaryFile } from '../types';
import type { ImageSwap } from './image-service';
import { noImage } from './task';
import type { ImageAnswers, ImageFile, PictureInput, PictureOutput } from './types';

const count = z.number().nonnegative();

/**
 * The answers of the process that has decoded a picture, checked: what it says goes into the media library, and code that decodes
 * foreign bytes may say anything. Throws for files outside of its folder, and for names, endings and types other than Strapi makes of those of the picture.
 * @param file as it was sent to the process
 */
export function checkedAnswers(answers: ImageAnswers, file: ImageFile): ImageAnswers {
  const made = z.object({
    name: z.string().refine((name) => name.length < 500 && name.endsWith(file.name)),
    hash: z
      .string()
      .refine((hash) => /^(?:[\w-]{1,100}_)?$/.test(hash.slice(0, -file.hash.length)) && hash.endsWith(file.hash)),
    ext: z.literal(file.ext),
    mime: z.literal(file.mime),
    filepath: z.string().refine((path) => dirname(path) === file.tmpWorkingDirectory),
    path: z.null().optional(),
    ...{ width: count, height: count, size: count, sizeInBytes: count },
  });
  const schema = z.object({
    ...{ isImage: z.boolean(), isOptimizableImage: z.boolean(), isResizableImage: z.boolean() },
    optimized: made.nullable(),
    dimensions: z.object({ width: count.nullable(), height: count.nullable() }),
    thumbnail: made.nullable(),
    formats: z.array(z.object({ key: z.string(), file: made })).max(100),
  });
  return schema.parse(answers) as unknown as ImageAnswers;
}

export { createImageSwap, type ImageService, type ImageSwap } from './image-service';

/** A picture is not taken; `refused` says why. */
export class PictureRefused extends Error {
  constructor(readonly refused: RefusedFile) {
    super(refused.problem);
  }
}

/** Types that sharp decodes. Pictures of others are stored as they are, as Strapi does. */
const WORKED = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp', 'image/avif', 'image/tiff']);

/** Pictures that wait for the process, half of them of one app; milliseconds that one waits. */
export const MAX_WAITING = 16;
export const MAX_WAIT = 30_000;

/** What one picture may take. */
export interface PictureLimits {
  /** Pixels of all frames together. */
  pixels: number;
  /** Bytes of the process' resident memory. */
  memory: number;
  /** Milliseconds of the processor; by the clock at most five times as long. */
  time: number;
}

/** What a picture of so many pixels may take: memory and time that the process needs without one, and for each pixel. */
export const pictureLimits = (pixels: number): PictureLimits => ({
  pixels,
  memory: 256 * 1024 ** 2 + 16 * pixels,
  time: 10_000 + pixels / 2_000,
});

/** Megabytes above which the process is replaced after a picture; milliseconds after which one without work ends. */
const IDLE_MEMORY = 320;
const IDLE_TIME = 60_000;

interface PicturesOptions {
  images: ImageSwap;
  /** The settings of Strapi's media library, and `breakpoints` of its configuration. */
  settings(): Promise<{ settings: object; breakpoints: unknown }>;
  /** The built worker program. */
  path: string;
  /** The temporary folder, where the files are. */
  folder: string;
  limits: PictureLimits;
  sandbox: SandboxConfig;
  logger: { error(message: string): void };
}

const problems = { unreadable: 'file_unreadable', costly: 'file_costly' } as const;

/** Pictures are worked on in a process of their own, one at a time (docs/decisions/pictures.md). */
export interface Pictures {
  /**
   * Uploads a file by Strapi's upload service, which gets what it asks of pictures from the process. PictureRefused for a picture
   * that has too many pixels, cannot be decoded, or goes over the limits of time and memory; ServiceUnavailableError where too many
   * pictures wait.
   */
  upload<T>(file: TemporaryFile, upload: () => Promise<T>): Promise<T>;
  destroy(): Promise<void>;
}

export function createPictures(options: PicturesOptions): Pictures {
  const { images, settings, path, folder, limits, sandbox, logger } = options;
  const { module } = images;
  const busy = () => unavailable('The server is busy with other pictures, try again soon', 5);
  const semaphore = createSemaphore({ permits: 1, queue: MAX_WAITING, share: (all) => Math.ceil(all / 2), busy });
  const workers = createWorkers({
    ...{ path, count: 1, memory: 128, kept: 0, idleTime: IDLE_TIME, idleMemory: IDLE_MEMORY, sandbox, logger },
    access: { read: [join(folder, '*'), ...(module ? packageFolders(module) : [])], addons: true },
  });

  const run = async ({ site, app }: TemporaryFile, file: ImageFile, onlyMeasures: boolean) => {
    if (!module) throw new Error('This Strapi has no image service that the plugin knows: pictures cannot be stored');
    const { pixels: maxPixels, memory: maxMemory, time } = limits;
    const input: PictureInput = { module, file, ...(await settings()), maxPixels, maxMemory, onlyMeasures };
    const release = await semaphore.acquire(`${site}/${app}`, MAX_WAIT);
    try {
      return (await workers.run('preparePicture', input, { time, byProcessor: true })) as PictureOutput;
    } catch (error) {
      if (error instanceof WorkerFailure) return { problem: 'costly' } as const;
      throw error;
    } finally {
      release();
    }
  };
  const answersOf = async (of: TemporaryFile, asked: ImageFile, work: string, onlyMeasures = false) => {
    const file = { ...withoutFunctions(asked), filepath: of.path, tmpWorkingDirectory: work };
    const output = await run(of, file, onlyMeasures);
    if (!('problem' in output)) return output.answers && checkedAnswers(output.answers, file);
    throw new PictureRefused(
      output.problem === 'large'
        ? { problem: 'file_pixels', values: { name: of.chosen, pixels: limits.pixels } }
        : { problem: problems[output.problem], values: { name: of.chosen } },
    );
  };

  return {
    async upload(file, upload) {
      const isWorked = WORKED.has(file.mime);
      if (!images.isStrapis) {
        const { name, mime } = file;
        if (isWorked) await answersOf(file, { name, mime, hash: '', ext: '' } as ImageFile, '', true);
        return upload();
      }
      if (!isWorked) return images.during(async () => noImage, upload);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const work = await mkdtemp(join(folder, 'picture-'));
      try {
        let found: Promise<ImageAnswers> | undefined;
        const answering = (asked: ImageFile) => {
          found ??= answersOf(file, asked, work).then((answers) => answers ?? noImage);
          return found;
        };
        return await images.during(answering, upload);
      } finally {
        await rm(work, { recursive: true, force: true });
      }
    },
    destroy: workers.destroy,
  };
}

/** The folders of packages that Node.js looks for from a module, as the permission model names them. */
const packageFolders = (module: string) =>
  (createRequire(module).resolve.paths('sharp') ?? []).map((folder) => join(folder, '*'));

const withoutFunctions = (file: ImageFile) =>
  Object.fromEntries(Object.entries(file).filter(([, value]) => typeof value !== 'function')) as ImageFile;
