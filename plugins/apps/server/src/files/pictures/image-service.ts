import { AsyncLocalStorage } from 'node:async_hooks';
import { constants, createReadStream } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { ImageAnswers, ImageFile } from './types';

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
export function imageModule(): string | null {
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
