/** Answers of the question "How often do you visit us?". The values are stored. */
export const frequencies = [
  { value: 'daily', label: 'Every day' },
  { value: 'weekly', label: 'Once a week' },
  { value: 'rarely', label: 'Now and then' },
];

/** A part of a whole in percent, rounded; 0 of nothing. @param {number} part @param {number} whole */
export function percent(part, whole) {
  return whole === 0 ? 0 : Math.round((100 * part) / whole);
}
