import { answers } from './answers';
import type { Attack } from './attack';
import { bulk } from './bulk';
import { compile } from './compile';
import { content } from './content';
import { forms } from './forms';
import { jobs } from './jobs';
import { layouts } from './layouts';
import { markup } from './markup';
import { memory } from './memory';
import { pictures } from './pictures';
import { ranges } from './ranges';
import { wideTables } from './tables';
import { yaml } from './yaml';

/** Every attack on the server's own thread by files that a theme author writes. Searches are in `search.ts`. */
export const authors: readonly Attack[] = [
  ...compile,
  ...markup,
  ...layouts,
  ...yaml,
  ...answers,
  ...content,
  ...memory,
];

/** Every attack by what a visitor sends to ordinary blocks: forms, records, pictures. */
export const visitors: readonly Attack[] = [...forms, ...wideTables, ...bulk, ...pictures, ...ranges, ...jobs];
