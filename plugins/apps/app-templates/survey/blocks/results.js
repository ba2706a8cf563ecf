import { frequencies, percent } from '../lib/questions';

/** @typedef {import('strapi-plugin-apps/context').Context} Context */

/** Counted by the indexes: no answer is read. A count takes the longer the more answers match. @param {Context} context */
export function summary({ app }) {
  const answers = app.count();
  let sum = 0;
  for (let score = 1; score <= 10; score += 1) sum += score * app.count('score == value', { names: { value: score } });
  return {
    answers,
    average: answers === 0 ? 0 : Math.round((10 * sum) / answers) / 10,
    frequencies: frequencies.map(({ value, label }) => {
      const count = app.count('frequency == value', { names: { value } });
      return { label, count, percent: percent(count, answers) };
    }),
  };
}

/** @param {Context} context */
export function latest({ app }) {
  const found = app.search('', { sort_index: 'answered_at', reverse: true, limit: 10 });
  return found.map(({ url, score, comment }) => ({ url, score, comment }));
}
