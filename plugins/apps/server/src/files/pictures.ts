import { AsyncLocalStorage } from 'node:async_hooks';
import { constants, createReadStream } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { unavailable } from '../common/errors';
import type { SandboxConfig } from '../config.types';
import { createSemaphore, createWorkers, WorkerFailure } from '../workers';
import { type ImageAnswers, type ImageFile, noImage, type PictureInput, type PictureOutput } from './picture-task';
import type { RefusedFile, TemporaryFile } from './types';

/** The service `image-manipulation` of Strapi's upload plugin. */
export type ImageService = Record<string, (...given: never[]) => unknown>;

/** Answers for one upload: at the first question they are made, for the file that is asked about. */
type Answering = (file: ImageFile) => Promise<ImageAnswers>;

/** A file that an upload reads as a stream. A link is not followed: the process that wrote it has read foreign bytes. */
const streamed = (file: ImageFile) => ({
  ...file,
  getStream: () =>
    createReadStream(file.filepath, { flags: constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) } as never),
});

/** The functions of the service that read pictures, answered from what another process has found. */
const answers: Record<string, (found: ImageAnswers, file: ImageFile) => unknown> = {
  isImage: ({ isImage }) => isImage,
  // A faulty one is refused before.
  isFaultyImage: () => false,
  isOptimizableImage: ({ isOptimizableImage }) => isOptimizableImage,
  isResizableImage: ({ isResizableImage }) => isResizableImage,
  optimize: ({ optimized }, file) => (optimized ? { ...file, ...streamed(optimized) } : file),
  getDimensions: ({ dimensions }) => dimensions,
  generateThumbnail: ({ thumbnail }) => thumbnail && streamed(thumbnail),
  generateResponsiveFormats: ({ formats }) => formats.map(({ key, file }) => ({ key, file: streamed(file) })),
};

/** Path of the module of Strapi's image service; null where this Strapi has none. */
function imageModule(): string | null {
  try {
    const strapi = createRequire(__filename).resolve('@strapi/strapi/package.json');
    const upload = createRequire(strapi).resolve('@strapi/upload/package.json');
    const module = join(dirname(upload), 'dist', 'server', 'services', 'image-manipulation.js');
    return createRequire(module).resolve(module);
  } catch {
    return null;
  }
}

/** Strapi's image service with its answers replaced during uploads of the plugin; for all other uploads it is Strapi's own. */
export interface ImageSwap {
  /** Path of the service's module; null where this Strapi has none. */
  readonly module: string | null;
  /** Whether the host has left the service as Strapi wrote it. Only then its answers are replaced. */
  readonly isStrapis: boolean;
  /** Wraps the service. Called once, while the plugin registers: the host's extensions are in it then. */
  wrap(service: ImageService): ImageService;
  /** Runs `work`, in which Strapi's image service answers what `answering` says. */
  during<T>(answering: Answering, work: () => Promise<T>): Promise<T>;
}

/** To be made before Strapi applies the host's extensions, i.e. while the plugin is loaded: they may change Strapi's own object. */
export function createImageSwap(module = imageModule()): ImageSwap {
  const own: ImageService = module ? { ...createRequire(module)(module) } : {};
  const current = new AsyncLocalStorage<Answering>();
  let isStrapis = false;
  return {
    module,
    get isStrapis() {
      return isStrapis;
    },
    wrap(service) {
      isStrapis = Object.keys(answers).every((name) => own[name] !== undefined && own[name] === service[name]);
      if (!isStrapis) return service;
      const wrapped = Object.entries(answers).map(([name, answer]) => {
        const wrap = async (file: ImageFile) => {
          const answering = current.getStore();
          return answering ? answer(await answering(file), file) : service[name]?.(file as never);
        };
        return [name, wrap] as const;
      });
      return { ...service, ...Object.fromEntries(wrapped) } as ImageService;
    },
    during: (answering, work) => current.run(answering, work),
  };
}

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
    width: count,
    height: count,
    size: count,
    sizeInBytes: count,
  });
  const schema = z.object({
    isImage: z.boolean(),
    isOptimizableImage: z.boolean(),
    isResizableImage: z.boolean(),
    optimized: made.nullable(),
    dimensions: z.object({ width: count.nullable(), height: count.nullable() }),
    thumbnail: made.nullable(),
    formats: z.array(z.object({ key: z.string(), file: made })).max(100),
  });
  return schema.parse(answers) as unknown as ImageAnswers;
}

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
    path,
    count: 1,
    memory: 128,
    kept: 0,
    idleTime: IDLE_TIME,
    idleMemory: IDLE_MEMORY,
    sandbox,
    logger,
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
