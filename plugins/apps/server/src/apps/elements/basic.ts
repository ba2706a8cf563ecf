import { storedSettings } from './inputs/settings';
import type { ElementType } from './types';

/** HTML that the function of the element's name returns. */
export const basic: ElementType = { role: 'html', settings: storedSettings };
