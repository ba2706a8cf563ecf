import { storedSettings } from './inputs/settings';
import { checkAlone, verify } from './inputs/verify';
import type { ElementType } from './types';

/** HTML that the function of the element's name returns. */
export const basic: ElementType = {
  role: 'html',
  settings: { ...storedSettings, ...verify },
  check: (definition, at) => checkAlone(definition, at, storedSettings),
};
