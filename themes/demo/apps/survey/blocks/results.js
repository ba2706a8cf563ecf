/** @import { Element } from 'strapi-plugin-apps/context' */
import { average, percent } from '../lib/statistics';

const frequencyLabels = { daily: 'Every day', weekly: 'Once a week', rarely: 'Now and then' };

/**
 * Counted by the indexes: no answer is read. A count takes the longer the more answers match.
 * @type {Element}
 */
export function summary({ app }) {
  const answers = app.count();
  const scores = Array.from({ length: 11 }, (_, score) => app.count('score == value', { names: { value: score } }));
  const balance = app.count("verdict == 'fan'") - app.count("verdict == 'critic'");
  return { answers, average: average(scores), balance: percent(balance, answers) };
}

/** @type {Element} */
export function frequencies({ app }) {
  const answers = app.count();
  return Object.entries(frequencyLabels).map(([value, label]) => {
    const count = app.count('frequency == value', { names: { value } });
    return { label, count, percent: percent(count, answers) };
  });
}

/** @type {Element} */
export function latest({ app }) {
  const records = app.search('', { sort_index: 'answered_at', reverse: true, limit: 10 });
  return records.map((record) => ({
    url: record.url,
    name: record.name,
    score: record.score,
    comment: record.comment,
  }));
}
