import { createLooked } from '../looked';

/** What the logic of this context has looked at. */
export const looked = createLooked();
