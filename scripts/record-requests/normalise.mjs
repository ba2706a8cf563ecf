/**
 * Replaces the parts of an answer that differ between runs: address, ids, dates, tokens, hashes of the time. An id becomes a
 * number in the order in which ids are first seen, so that equal ids stay equal.
 */

/** Headers about the connection or the time, not about the answer. */
const dropped = new Set([
  'date',
  'connection',
  'keep-alive',
  'transfer-encoding',
  'last-modified',
  'x-request-id',
  'x-response-time',
]);

/** Headers of which only the presence is kept: their value follows from the body before it is normalised. */
const present = new Set(['content-length']);

const dayInMilliseconds = 24 * 60 * 60 * 1000;

/** Patterns of variable texts, by the name that stands for them; `when` selects the matches. */
const variables = [
  { name: 'token', pattern: /\b[a-z0-9]{8,9}\.[A-Za-z0-9_-]{12}\.[A-Za-z0-9_-]{43}/g },
  { name: 'shown', pattern: /(?<=name="_shown" value=")[a-z0-9]{8}\.[A-Za-z0-9_-]{43}(?=")/g },
  { name: 'live', pattern: /(?<="(?:live|any)":\[[^\]]*")[\w-]{20,}(?=")/g },
  { name: 'request', pattern: /(?<=<code>)[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}(?=<\/code>)/g },
  { name: 'since', pattern: /(?<="since":")[\w-]{8}\.\d+(?=")/g },
  { name: 'milliseconds', pattern: /(?<=;dur=)\d+(?:\.\d+)?/g },
  { name: 'time', pattern: /\b20\d\d-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|\b)/g, when: isRecent },
  { name: 'day', pattern: /\b20\d\d-\d\d-\d\d\b/g, when: isRecent },
  { name: 'time', pattern: /\b\w{3}, \d\d \w{3} 20\d\d \d\d:\d\d:\d\d GMT/g, when: isRecent },
  { name: 'id', pattern: /\b\d{15}\b/g, numbered: true },
  { name: 'document', pattern: /\b(?=[a-z]*\d)[a-z0-9]{24}\b/g, numbered: true },
  { name: 'fileTag', pattern: /(?<=")[a-z0-9]{1,5}-[a-z0-9]{8}(?=")/g },
];

function isRecent(text) {
  const time = Date.parse(text);
  return Math.abs(time - Date.now()) < 2 * dayInMilliseconds;
}

/** A function that normalises texts of one run against `origin`; it remembers which ids it has seen. */
export function createNormaliser(origin) {
  const seen = new Map();
  const counts = new Map();
  const numbered = (name, found) => {
    if (!seen.has(found)) {
      counts.set(name, (counts.get(name) ?? 0) + 1);
      seen.set(found, `{${name}-${counts.get(name)}}`);
    }
    return seen.get(found);
  };
  const { host } = new URL(origin);
  return (text) => {
    const known = text.replaceAll(host, '{host}').replaceAll(encodeURIComponent(host), '{host}');
    return variables.reduce((result, { name, pattern, when = () => true, numbered: isNumbered }) => {
      const nameOf = (found) => (isNumbered ? numbered(name, found) : `{${name}}`);
      return result.replace(pattern, (found) => (when(found) ? nameOf(found) : found));
    }, known);
  };
}

/** A cookie with a placeholder for its value, which is random or signed; an empty value deletes the cookie. */
const withoutValue = (cookie) => cookie.replace(/^([^=]*)=[^;]+/, '$1={cookie}');

/** The headers of an answer that are recorded, normalised, in the order of their names. */
export function normalisedHeaders(headers, normalise) {
  const recorded = (name, value) => {
    if (present.has(name)) return '{present}';
    if (name === 'set-cookie') return value.map(withoutValue).map(normalise);
    return normalise(String(value));
  };
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !dropped.has(name))
      .map(([name, value]) => [name, recorded(name, value)])
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}
