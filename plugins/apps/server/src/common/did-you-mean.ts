/** Words that are compared, and characters of one word: a comparison takes time by the product of both lengths. */
const MAX_KNOWN = 500;
const MAX_WORD = 40;

/** `, did you mean "label"?` where one of the known words is close. */
export function didYouMean(given: string | null, known: readonly string[]): string {
  if (given === null || given.length > MAX_WORD) return '';
  const closest = known
    .slice(0, MAX_KNOWN)
    .filter(({ length }) => length <= MAX_WORD)
    .map((word) => ({ word, distance: editDistance(given.toLowerCase(), word.toLowerCase()) }))
    .filter(({ word, distance }) => distance <= Math.max(1, Math.floor(word.length / 3)))
    .sort((a, b) => a.distance - b.distance)[0];
  return closest ? `, did you mean "${closest.word}"?` : '';
}

/** Damerau-Levenshtein distance: letters to add, drop, change or swap with their neighbour. */
function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, index) => index)];
  const at = (i: number, j: number) => rows[i]?.[j] ?? 0;
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j += 1) {
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const change = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(change, at(i - 1, j) + 1, at(i, j - 1) + 1, swapped ? at(i - 2, j - 2) + 1 : change));
    }
  }
  return at(a.length, b.length);
}
