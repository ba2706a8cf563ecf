/**
 * The average of whole numbers from 0, given how often each occurs; one decimal, 0 for none.
 * @param {number[]} counts
 */
export function average(counts) {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const sum = counts.reduce((sum, count, value) => sum + count * value, 0);
  return total === 0 ? 0 : Math.round((10 * sum) / total) / 10;
}

/**
 * A part of a whole in percent, rounded; 0 of nothing.
 * @param {number} part
 * @param {number} whole
 */
export function percent(part, whole) {
  return whole === 0 ? 0 : Math.round((100 * part) / whole);
}
