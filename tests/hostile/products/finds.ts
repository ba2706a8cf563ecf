import type { Product } from './generate';

/** Products that made others wait before they were corrected. */
export const finds: readonly Product[] = [];
