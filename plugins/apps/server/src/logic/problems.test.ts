import { expect, test } from 'vitest';
import { logicError, unavailable } from '../common/errors';
import { createProblems } from './problems';
import type { LogicProgram, LogicRuntime } from './types';

const program = { path: 'apps/a/blocks/b.js' } as LogicProgram;

/** The problem of a program in each look at it, when its sessions open as named in order; the last is repeated. */
async function problems(looks: number, ...opened: (Error | 'opens')[]) {
  const compiled = {};
  const problem = createProblems({
    compile: async () => compiled as never,
    budget: (() => ({})) as never,
    open: (async () => {
      const next = opened.length > 1 ? opened.shift() : opened[0];
      if (next !== 'opens') throw next;
      return { close: () => {} };
    }) as unknown as LogicRuntime['open'],
  });
  const found: (string | null)[] = [];
  for (let look = 0; look < looks; look += 1)
    found.push((await problem(program, performance.now() + 5_000))?.message ?? null);
  return found;
}

const broken = logicError('x is not defined', { file: program.path });

test.each<[string, (Error | 'opens')[], (string | null)[]]>([
  ['a program that loads', ['opens'], [null, null]],
  ['a program that fails, which is remembered', [broken, 'opens'], [broken.message, broken.message]],
  ['a busy sandbox is no problem of the program', [unavailable('The sandbox is busy.', 1)], [null, null]],
  [
    'a busy sandbox hides no problem for long',
    [unavailable('The sandbox is busy.', 1), broken],
    [null, broken.message],
  ],
])('%s', async (_, opened, expected) => {
  expect(await problems(expected.length, ...opened)).toEqual(expected);
});
