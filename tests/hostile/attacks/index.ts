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

/** Every attack on the server's own thread by files of a theme, pictures and bulk creations. Searches are in `search.ts`. */
export const attacks: readonly Attack[] = [
  ...compile,
  ...markup,
  ...layouts,
  ...yaml,
  ...answers,
  ...forms,
  ...wideTables,
  ...bulk,
  ...content,
  ...memory,
  ...pictures,
  ...ranges,
  ...jobs,
];
