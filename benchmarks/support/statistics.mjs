/** Order statistics of measurements. */

export const sorted = (values) => [...values].sort((a, b) => a - b);

/** The value below which the given part (0 to 1) of the values lies; undefined for no values. */
export const quantile = (values, part) => sorted(values)[Math.min(values.length - 1, Math.floor(values.length * part))];

export const median = (values) => quantile(values, 0.5);

/** Smallest and greatest value. */
export const range = (values) => [sorted(values)[0], sorted(values).at(-1)];
