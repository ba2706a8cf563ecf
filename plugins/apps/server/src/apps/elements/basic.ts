import type { ElementType } from './types';

/** A piece of HTML that the function of the element's name makes. */
export const basic: ElementType = { keys: ['index_type', 'mode'], input: false };
