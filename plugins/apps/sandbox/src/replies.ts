/** What a context answers instead of the JSON text of an answer. */

/** Logic waits for a promise: another function of the context has the text, once no microtask is left. */
export const later = 'P';

/** Logic has failed with an error that may be due to its context, which serves several sessions (`refusals.ts`). */
export const again = 'R';
