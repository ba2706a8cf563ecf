/**
 * How a score from 0 to 10 counts: the usual groups of a recommendation survey.
 * @param {number} score
 */
export function verdictOf(score) {
  if (score >= 9) return 'fan';
  return score >= 7 ? 'content' : 'critic';
}
