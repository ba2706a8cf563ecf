import { answers } from './answers';
import type { Attack } from './attack';
import { compile } from './compile';
import { layouts } from './layouts';
import { markup } from './markup';
import { search } from './search';
import { yaml } from './yaml';

/** Every attack on the server's own thread. */
export const attacks: readonly Attack[] = [...compile, ...markup, ...layouts, ...search, ...yaml, ...answers];
