/** Compares two recordings of record-requests.mjs. */

const around = 60;

/** The first position at which two texts differ, with the text around it. */
function firstDifference(before, after) {
  let at = 0;
  while (at < before.length && before[at] === after[at]) at += 1;
  const cut = (text) => JSON.stringify(text.slice(Math.max(0, at - around), at + around));
  return `\n    before: ${cut(before)}\n    after:  ${cut(after)}`;
}

const textOf = (value) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? '(none)'));

/** The differences of all requests whose answers differ; requests are matched by their text. */
export function differences(before, after) {
  const answers = new Map(after.map((line) => [line.request, line]));
  const missing = after.filter(({ request }) => !before.some((line) => line.request === request));
  const changed = before.flatMap((line) => {
    const other = answers.get(line.request);
    if (!other) return [`- ${line.request}: not in the second recording`];
    const parts = ['status', 'headers', 'body'].filter((part) => textOf(line[part]) !== textOf(other[part]));
    const shown = parts.map((part) => `  ${part}${firstDifference(textOf(line[part]), textOf(other[part]))}`);
    return parts.length > 0 ? [[`- ${line.request}`, ...shown].join('\n')] : [];
  });
  return [...changed, ...missing.map(({ request }) => `- ${request}: not in the first recording`)];
}
