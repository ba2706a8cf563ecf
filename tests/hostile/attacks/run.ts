import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ArenaOptions, openArena } from './arena';
import type { Attack, AttackArena, Attempt } from './attack';

/** Milliseconds within which the second process has each of its answers, on an idle machine. */
const usualWait = 500;

/** Megabytes that the host may keep after all attacks of a list: caches, and the growth of a heap in an hour of use. */
const MAX_KEPT = 400;

/** No answer may show a stack, or a path of the machine. */
const leak = /\n\s+at .+:\d+:\d+|\/plugins\/apps\/|node_modules|\/tmp\//;

/** Statuses of a request that a time limit has ended. */
const endedByTime = /^50[34] /;

/** The error of an attempt, apart from its times; undefined if there is none. */
function fault({ status, has }: Attack, { answers, failed }: Attempt): string | undefined {
  for (const { answer } of answers) {
    const shown = `${answer.status} ${answer.text.slice(0, 300)}`;
    if (![status].flat().includes(answer.status)) return `status: ${shown}`;
    if (has && !has.test(answer.text)) return `text: ${shown}`;
    if (answer.status >= 400 && leak.test(answer.text)) return `a path or a stack: ${shown}`;
  }
  const wrong = failed.filter((answer) => !endedByTime.test(answer));
  return wrong.length > 0 ? `the healthy block was answered ${wrong.slice(0, 3).join(', ')}` : undefined;
}

/** What took too long; a healthy block that met a time limit was answered late. */
function lateness(
  { within = 3_000 }: Attack,
  { answers, failed, slowest }: Attempt,
  maxWait: number,
): string | undefined {
  if (failed.length > 0) return `the healthy block was answered ${failed.slice(0, 3).join(', ')}`;
  const longest = Math.max(0, ...answers.map(({ time }) => time));
  if (longest <= within + maxWait - usualWait && slowest <= maxWait) return undefined;
  return `answered after ${longest.toFixed(0)} ms, the healthy block after ${slowest.toFixed(0)} ms`;
}

/**
 * One test for each attack, on one host. A wrong answer fails at once. Times are measured on a machine that does other
 * things too: an attack is repeated twice, as a new block, before it counts as late.
 */
export function runAttacks(
  attacks: readonly Attack[],
  { maxWait = usualWait, ...options }: ArenaOptions & { maxWait?: number } = {},
): void {
  const only = new RegExp(process.env.HOSTILE ?? '');
  const chosen = attacks.filter(({ name }) => only.test(name));
  let arena: AttackArena;
  let before = 0;
  beforeAll(async () => {
    arena = await openArena(options);
    before = await arena.memory();
  });
  afterAll(() => arena?.close());

  test.each(chosen)(
    '$name',
    async (attack) => {
      const late: string[] = [];
      for (let attempt = 0; attempt < 3; attempt += 1) {
        const result = await arena.attempt(attack);
        expect(fault(attack, result)).toBeUndefined();
        const problem = lateness(attack, result, maxWait);
        if (!problem) return;
        late.push(problem);
        console.log(`${attack.name}, attempt ${attempt + 1}: ${problem}`);
      }
      expect(late).toEqual([]);
    },
    120_000,
  );

  test('the memory is released', async () => {
    const after = await arena.memory();
    console.log(`host: ${before.toFixed(0)} MB before, ${after.toFixed(0)} MB after ${chosen.length} attacks`);
    expect(after - before).toBeLessThan(MAX_KEPT);
  });
}
