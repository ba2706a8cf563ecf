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
