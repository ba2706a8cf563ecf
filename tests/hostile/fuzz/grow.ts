/**
 * Searches texts on which a function takes superlinear time: short pieces of a grammar, repeated and nested, at growing
 * sizes. The same seed makes the same texts. For functions that run on the server's own thread and are linear there.
 */

export interface Subject {
  name: string;
  /** Pieces from which texts are generated: tokens, and openings with their endings. */
  pieces: readonly string[];
  /** The examined function; it may throw. */
  work(text: string): unknown;
  /** Characters of the largest text, i.e. the bound that the function checks or a little more. */
  maxSize: number;
  /** The function has a bound of its own: only the time at the largest size counts, not the growth. */
  bounded?: boolean;
  /** Put before and after each text. */
  frame?: readonly [string, string];
}

export interface Finding {
  /** The shape of the text: parts and how they are repeated. */
  shape: string;
  size: number;
  /** Milliseconds. */
  time: number;
}

/** Mulberry32: a small generator of numbers from 0 to 1 that a seed decides. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Shape = (parts: readonly [string, string, string], size: number) => string;

const times = (part: string, size: number) => part.repeat(Math.max(1, Math.floor(size / Math.max(1, part.length))));

/** Numbers in each repetition, for functions that are slow only when every name differs. */
const numbered = (part: string, size: number) => {
  let text = '';
  for (let index = 0; text.length < size; index += 1) text += part.replaceAll('#', String(index));
  return text;
};

export const shapes: Record<string, Shape> = {
  repeated: ([a, b, c], size) => times(a + b + c, size),
  one: ([a], size) => times(a, size),
  'one after the other': ([a, b, c], size) => times(a, size / 3) + times(b, size / 3) + times(c, size / 3),
  'between halves': ([a, b], size) => times(a, size / 2) + b + times(a, size / 2),
  numbered: ([a, b], size) => numbered(`${a}x#${b} `, size),
  'opened, then others': ([a, b, c], size) => times(a, size / 2) + numbered(`${b}x#${c}`, size / 2),
  'a long one': ([a, b, c], size) => a + b.slice(0, 1).repeat(size) + c,
};

/** Milliseconds of the fastest of up to three runs, without the time in which the processor worked for other processes. */
function measure(work: (text: string) => unknown, text: string): number {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 3; run += 1) {
    const begin = performance.now();
    const before = process.cpuUsage();
    try {
      work(text);
    } catch {
      // A refusal is an answer too; only its time matters.
    }
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, performance.now() - begin, (user + system) / 1000);
    if (best > 2_000 || best < 1) break;
  }
  return best;
}

/** Maximum milliseconds for which this thread was blocked during the work. */
export async function longestWait(work: () => Promise<unknown>): Promise<number> {
  let [last, longest] = [performance.now(), 0];
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 5);
  await work();
  clearInterval(timer);
  return Math.max(longest, performance.now() - last);
}

/** Milliseconds for a text of the largest size: a longer delay would be noticed by other requests. */
const MAX_TIME = 300;

/**
 * Texts on which the subject is too slow: over `MAX_TIME` at its largest size, or sooner by a cost
 * that grows with the square. Sizes double, so that a bad text ends the search before it hangs.
 */
export function findSlow(subject: Subject, seed: number, rounds: number): Finding[] {
  const { pieces, work, maxSize, bounded = false, frame = ['', ''] } = subject;
  const next = random(seed);
  const pick = <T>(list: readonly T[]) => list[Math.floor(next() * list.length)] as T;
  const found: Finding[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const parts = [pick(pieces), pick(pieces), pick(pieces)] as const;
    const [name, shape] = pick(Object.entries(shapes));
    let before = 0;
    for (let size = 512; ; size = Math.min(size * 2, maxSize)) {
      const time = measure(work, frame[0] + shape(parts, size) + frame[1]);
      const isQuadratic = !bounded && time > 60 && before > 10 && time > before * 3.2;
      if (time > MAX_TIME || isQuadratic) {
        found.push({ shape: `${name}: ${JSON.stringify(parts)}`, size, time: Math.round(time) });
        break;
      }
      before = time;
      if (size === maxSize) break;
    }
  }
  return found;
}
