import { dirname } from 'node:path';
import { z } from 'zod';
import type { ImageAnswers, ImageFile } from './types';

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
