import { afterAll, beforeAll, expect, test } from 'vitest';
import { configured } from '../support/configure';
import { openArena } from './attacks/arena';
import type { Attack, AttackArena } from './attacks/attack';
import { fault, lateness } from './attacks/run';
import { dimensions } from './products/dimensions';
import { finds } from './products/finds';
import { attackOf, nameOf, type Product, productOf } from './products/generate';

/**
 * Two or three things at their limits at once (docs/decisions/bounds.md): `PRODUCTS_SEED=7 PRODUCTS_MINUTES=60 npx vitest run
 * --project hostile products`.
 */
const seed = Number(process.env.PRODUCTS_SEED ?? Date.now() % 1_000_000);
const minutes = Number(process.env.PRODUCTS_MINUTES ?? 5);

/** Milliseconds within which the second process has each of its answers, on an idle machine. */
const MAX_WAIT = Number(process.env.PRODUCTS_WAIT ?? 500);

/** As of many visitors at many addresses, who have looked at the form. */
const limits = { formPosts: 0, formTime: 0 };

let arena: AttackArena;
let made = 0;
beforeAll(async () => {
  // In production, as sites that strangers reach: elsewhere each request looks at all files of the theme.
  arena = await openArena({ production: true, env: configured({ apps: { limits } }) });
});
afterAll(() => arena?.close());

/** What is wrong with a product, of three attempts; undefined where one was answered in time. */
async function problemOf(product: Product): Promise<string | undefined> {
  let late: string | undefined;
  for (let attempt = 0; attempt < 3; attempt += 1) {
    made += 1;
    const attack: Attack = attackOf(product, `product-${made}`);
    const result = await arena.attempt(attack).catch((error: Error) => error.message);
    // An answer that never comes is a find too.
    if (typeof result === 'string') return result;
    const wrong = fault(attack, result);
    if (wrong) return wrong;
    late = lateness(attack, result, MAX_WAIT);
    if (process.env.PRODUCTS_SHOWN)
      console.log(
        `${nameOf(product)}: ${[...new Set(result.answers.map(({ answer }) => answer.status))].join()} after ${Math.max(...result.answers.map(({ time }) => time)).toFixed(0)} ms, others ${result.slowest.toFixed(0)} ms`,
      );
    if (!late) return undefined;
  }
  return late;
}

test.each([...dimensions.keys()])('"%s" alone makes a block that is shown', async (name) => {
  made += 1;
  const attack = attackOf({ large: [name], request: 'page', count: 1 }, `alone-${made}`);
  const { answers } = await arena.attempt(attack);
  expect(answers[0]?.answer.status, answers[0]?.answer.text.slice(0, 2_000)).toBe(200);
});

test.each(finds.map((product) => [nameOf(product), product] as const))(
  '%s',
  async (_name, product) => expect(await problemOf(product)).toBeUndefined(),
  300_000,
);

test(
  `products of ${minutes} minutes make nothing wait (seed ${seed})`,
  async () => {
    const end = performance.now() + minutes * 60_000;
    const found: string[] = [];
    for (let at = seed; performance.now() < end; at += 1) {
      const product = productOf(at);
      const problem = await problemOf(product);
      if (problem) {
        found.push(`${at}: ${nameOf(product)}: ${problem}`);
        console.log(found.at(-1));
      }
    }
    console.log(`${made} attempts with seed ${seed}`);
    expect(found).toEqual([]);
  },
  minutes * 60_000 + 300_000,
);
