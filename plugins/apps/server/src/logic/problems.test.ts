import { expect, test } from 'vitest';
import { logicError, unavailable } from '../common/errors';
import { createProblems } from './problems';
import { SandboxBusy } from './supervisor/runner-pool';
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

const noSandbox = unavailable('The sandbox is not available.', 1);
const broken = logicError('x is not defined', { file: program.path });

test.each<[string, (Error | 'opens')[], (string | null)[]]>([
  ['a program that loads', ['opens'], [null, null]],
  ['a program that fails, which is remembered', [broken, 'opens'], [broken.message, broken.message]],
  ['a busy sandbox is no problem of the program', [new SandboxBusy()], [null, null]],
  ['a busy sandbox hides no problem for long', [new SandboxBusy(), broken], [null, broken.message]],
  ['without a sandbox, no logic can run', [noSandbox], [noSandbox.message, noSandbox.message]],
])('%s', async (_, opened, expected) => {
  expect(await problems(expected.length, ...opened)).toEqual(expected);
});
