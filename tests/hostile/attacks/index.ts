import { answers } from './answers';
import type { Attack } from './attack';
import { compile } from './compile';
import { layouts } from './layouts';
import { markup } from './markup';
import { pictures } from './pictures';
import { yaml } from './yaml';

/** Every attack on the server's own thread by files of a theme, and by pictures of visitors. Searches, which visitors send, are in `search.ts`. */
export const attacks: readonly Attack[] = [...compile, ...markup, ...layouts, ...yaml, ...answers, ...pictures];
