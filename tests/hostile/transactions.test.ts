import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { grantRole } from '../support/seed';
import { openArena } from './attacks/arena';
import type { Attack, AttackArena } from './attacks/attack';

/** Milliseconds within which others write a record and read an article, on an idle machine. */
const MAX_WAIT = 500;

let arena: AttackArena;
beforeAll(async () => {
  // In production, as sites that strangers reach: elsewhere each request looks at all files of the theme.
  arena = await openArena({ production: true });
  await grantRole(arena.host, 'Public', ['api::article.article.create', 'api::article.article.update']);
});
afterAll(() => arena?.close());

const spin = 'for (const end = Date.now() + 1_500; Date.now() < end; );';
const articles = "c.api.documents('api::article.article')";
const create = `${articles}.create({ data: { title: 'x', slug: 'x' + Math.random(), tiles: [] } })`;

/** Logic that makes the host open a transaction, and then takes its time. */
const held: [name: string, logic: string][] = [
  ['a refusal', `try { ${articles}.delete({ documentId: 'absent' }); } catch {} ${spin}`],
  ['a refused value', `try { ${articles}.create({ data: { absent: 1 } }); } catch {} ${spin}`],
  ['a failure', `try { ${articles}.update({ documentId: 'absent', data: { title: 'x' } }); } catch {} ${spin}`],
  ['a change', `${create}; ${spin}`],
  ['a search after a write', `c.app.create_record(); c.app.search(''); ${spin}`],
  [
    'changes with pauses between',
    `for (let n = 0; n < 40; n += 1) { ${create}; for (const end = Date.now() + 30; Date.now() < end; ); }`,
  ],
  ['reading after a change', `${create}; for (let n = 0; n < 400; n += 1) ${articles}.count();`],
];

/** The slowest of the requests that others send while an attack runs. */
async function slowestBeside(attack: Attack): Promise<number> {
  let running = true;
  let slowest = 0;
  const beside = async (path: string, method: string) => {
    while (running) {
      const begin = performance.now();
      const { status } = await arena.send({ method, path, ...(method === 'POST' ? { json: { a: 1 } } : {}) });
      slowest = Math.max(slowest, performance.now() - begin);
      expect(status).toBeLessThan(300);
      await pause(40);
    }
  };
  const others = [beside('/site/@@apps/healthy', 'POST'), beside('/api/articles?pagination[pageSize]=1', 'GET')];
  const { answers } = await arena.attempt(attack).finally(() => {
    running = false;
  });
  await Promise.all(others);
  for (const { answer } of answers) {
    expect([200, 409, 500, 503, 504], answer.text.slice(0, 300)).toContain(answer.status);
    // An attack that fails by itself would not block other requests either.
    expect(answer.text).not.toMatch(/Bad query|is not a function|is not defined/);
  }
  return slowest;
}

test.each(held)(
  'six requests whose logic goes on after %s block no other request',
  async (name, logic) => {
    const late: number[] = [];
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const slowest = await slowestBeside({
        name: `transactions-${name.replaceAll(' ', '-')}`,
        block: { js: `export function f(c) { ${logic} return 1; }` },
        requests: Array.from({ length: 6 }, () => ({ path: '/site/@@apps/attack/blocks/{id}/f' })),
        status: 200,
      });
      if (slowest <= MAX_WAIT) return;
      late.push(Math.round(slowest));
    }
    expect(late).toEqual([]);
  },
  120_000,
);
