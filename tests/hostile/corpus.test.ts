import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Arena, limit, openArena, type Result } from './arena';
import { readCorpus } from './cases';
import type { Case, Regression } from './cases/case';
import { regressions } from './cases/corrected';
import { fault } from './check';

/** Milliseconds that an answer may take beyond the limit. */
const margin = 200;

/** Milliseconds after which a request counts as unanswered. */
const ANSWER_TIMEOUT = 10_000;

/**
 * Attempts after which a case counts as late. Beside a busy loop on one of two processors some cases were late three times in a row,
 * although each is in time by itself.
 */
const ATTEMPTS = 6;

/** Cases that are run at the same time. */
const together = 2;

/** Runs only these cases, e.g. while writing one: `HOSTILE='^call-' npm run test:hostile`. */
const only = new RegExp(process.env.HOSTILE ?? '');

let arena: Arena;
let corpus: Case[];
const results = new Map<string, Result>();
const bystanders: Result[] = [];

/** Requests healthy blocks repeatedly; returns a function that stops it. */
function watch(): () => Promise<void> {
  let over = false;
  const watching = (async () => {
    for (let round = 0; !over; round += 1) {
      bystanders.push(await arena.call({ name: round % 2 === 0 ? 'healthy' : 'healthy-python' }));
      await pause(50);
    }
  })();
  return () => {
    over = true;
    return watching;
  };
}

async function runCases(cases: Case[], lanes: number): Promise<void> {
  const waiting = [...cases];
  const lane = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) results.set(next.name, await arena.call(next));
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/** Python gets the time back in which others used all processors, up to twice the limit (docs/limits.md). */
const maxTime = ({ py }: Case, { idle }: Result) => (py !== undefined && idle < 0.3 ? 2 * limit : limit) + margin;

const late = (one: Case, result: Result) => result.time > maxTime(one, result);

/** Whether logic that has another answer than that it ran too long has met the time limit, as on a busy machine. */
const isEnded = (one: Case, { answer }: Result) => answer.status === 504 && fault(one, answer) !== undefined;

/**
 * The bound holds for one request by itself. With two processors, two loops and the healthy requests need more than
 * that, and a request that comes when both runners have just been lost waits for a new one, which does not count as its
 * time: on such a machine, busy with other things too, 24 of 470 cases were answered after more than 1,700 ms, up to 2,830 ms, and
 * each of them within 1,700 ms by itself.
 * So a late case is repeated beside healthy requests only; a case that is late in every attempt fails.
 */
async function repeatLate(): Promise<void> {
  const again = (one: Case, result = results.get(one.name) as Result) => late(one, result) || isEnded(one, result);
  const first = corpus.filter((one) => again(one));
  const times = first.map(({ name }) => `${name} ${results.get(name)?.time.toFixed(0)}`);
  console.log(`late beside others: ${times.join(', ') || 'none'}`);
  for (let attempt = 1; attempt < ATTEMPTS; attempt += 1) {
    for (const one of first.filter((one) => again(one))) {
      await untilRunnersAreReady();
      results.set(one.name, await arena.call(one));
    }
  }
}

/** The runner that the last case has ended is replaced at once, by two; these take a moment to start. */
async function untilRunnersAreReady(): Promise<void> {
  await pause(300);
  for (const name of ['healthy', 'healthy-python']) await arena.call({ name });
}

async function runCorpus(): Promise<void> {
  const end = watch();
  // A case that fills the memory runs alone, because the runner ends the busiest session, which could be another loop.
  // A layout too: the server renders it itself, which may take a second without other answers.
  const alone = ({ name }: Case) => /memory|^layout/.test(name);
  await runCases(
    corpus.filter((one) => !alone(one)),
    together,
  );
  await runCases(corpus.filter(alone), 1);
  await repeatLate();
  await end();
}

beforeAll(async () => {
  corpus = (await readCorpus()).filter(({ name }) => only.test(name));
  arena = await openArena(corpus);
  for (const name of ['healthy', 'healthy-python']) await arena.call({ name });
  await runCorpus();
}, 900_000);
afterAll(() => arena?.close());

test('the corpus is large enough', () => {
  if (!process.env.HOSTILE) expect(corpus.length).toBeGreaterThanOrEqual(470);
  expect(results.size).toBe(corpus.length);
});

test('each case has the right answer, and nothing of the host in it', () => {
  const wrong = corpus.flatMap((one) => {
    const { answer } = results.get(one.name) as Result;
    const found = fault(one, answer);
    return found ? [`${one.name}: ${found}: ${answer.status} ${answer.text.slice(0, 300)}`] : [];
  });
  expect(wrong).toEqual([]);
});

test('each case has its answer in time', () => {
  const wrong = corpus.flatMap((one) => {
    const result = results.get(one.name) as Result;
    const { answer, time, idle } = result;
    const shown = `${one.name}: ${answer.status} in ${time.toFixed(0)} ms, ${idle.toFixed(1)} processors idle`;
    return late(one, result) ? [shown] : [];
  });
  expect(wrong).toEqual([]);
});

test('the healthy requests were answered throughout', () => {
  const failed = bystanders.filter(({ answer }) => answer.text !== '["hostile",true]');
  expect(failed.map(({ answer, time }) => `${answer.status} ${Math.round(time)} ${answer.text}`)).toEqual([]);
  if (!process.env.HOSTILE) expect(bystanders.length).toBeGreaterThan(50);
  const times = bystanders.map(({ time }) => time).sort((a, b) => a - b);
  console.log(`healthy: median ${times[times.length >> 1]?.toFixed(0)} ms, slowest ${times.at(-1)?.toFixed(0)} ms`);
  expect(times[times.length >> 1]).toBeLessThan(limit / 2);
});

test('nothing is left for the next request', async () => {
  for (let round = 0; round < 10; round += 1) {
    const { answer } = await arena.call({ name: 'state' });
    expect(answer.json).toEqual([[], false, 'undefined', [2], '{"a":1}', 'string']);
    const python = await arena.call({ name: 'state-python' });
    expect(python.answer.json).toEqual([Array(6).fill(false), 0, '[1]', '[1]', true, '5']);
  }
});

test('failed requests have written nothing', async () => {
  const { answer } = await arena.call({ name: '', address: '/site/@@apps/hostile/records', json: true });
  expect(answer.json).toBeInstanceOf(Array);
  const left = (answer.json as object[]).filter((record) => /late|after-deadline/.test(JSON.stringify(record)));
  expect(left).toEqual([]);
});

test('memory and processes are released', async () => {
  const released = async () => {
    const left = await arena.runners();
    console.log(`runners left: ${left.map(({ memory }) => `${memory.toFixed(0)} MB`).join(', ')}`);
    // One in use, and one in reserve for a minute after another was lost.
    return left.length <= 2 && left.every(({ memory }) => memory < 250);
  };
  await expect.poll(released, { interval: 1_000, timeout: 20_000 }).toBe(true);
});

describe('regressions', () => {
  const cases = regressions.filter(({ name }) => only.test(name));
  beforeAll(async () => {
    await arena.stillness();
    await arena.theme.add(cases);
    await pause(4000);
  });

  test('reading the files does not block the server', async () => {
    expect(await arena.stillness()).toBeLessThan(300);
  });

  /** Sends a case once; returns its answer, and for how many milliseconds the server's event loop was blocked. */
  async function ask(one: Regression): Promise<{ result: Result; still: number }> {
    let over = false;
    const askBeside = async () => {
      while (one.beside && !over) await arena.call({ name: one.beside });
    };
    const beside = Promise.all(Array.from({ length: 5 }, askBeside));
    if (one.beside) await pause(500);
    await arena.stillness();
    const result = await Promise.race([arena.call(one), pause(ANSWER_TIMEOUT)]);
    over = true;
    const still = await arena.stillness();
    await beside;
    if (!result) throw new Error(`No answer within ${ANSWER_TIMEOUT} ms`);
    return { result, still };
  }

  test.each(cases)('$name', { timeout: 120_000 }, async (one) => {
    const slow: string[] = [];
    // As above: a case that is late in every attempt fails. A wrong answer fails at once.
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const { result, still } = await ask(one);
      const { answer, time } = result;
      const ended = isEnded(one, result);
      if (!ended) expect(fault(one, answer), `${answer.status} ${answer.text.slice(0, 300)}`).toBeUndefined();
      if (one.unprinted) expect(one.unprinted.exec(arena.output())?.[0].slice(0, 100)).toBeUndefined();
      const isSlow = ended || (one.calm && still >= one.calm) || (!one.again && late(one, result));
      if (!isSlow) return;
      slow.push(`answered after ${time.toFixed(0)} ms, the server stood still for ${still.toFixed(0)} ms`);
    }
    expect(slow).toEqual([]);
  });
});
