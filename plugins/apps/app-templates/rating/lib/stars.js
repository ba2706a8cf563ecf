/** The choices, best first. */
export const choices = [
  { value: 5, label: '5 stars: excellent' },
  { value: 4, label: '4 stars: good' },
  { value: 3, label: '3 stars: fair' },
  { value: 2, label: '2 stars: weak' },
  { value: 1, label: '1 star: poor' },
];

/** @typedef {{ votes: number, average: number }} Rating */

/**
 * The rating of a page, counted by the record that has the page's path as its id.
 * @param {import('strapi-plugin-apps/context').App} app
 * @param {string} path
 * @returns {Rating}
 */
export function ratingOf(app, path) {
  const record = app.get_record(path);
  const votes = Number(record?.get('votes', 0) ?? 0);
  const sum = Number(record?.get('sum', 0) ?? 0);
  return { votes, average: votes === 0 ? 0 : Math.round((10 * sum) / votes) / 10 };
}
