import { expect, test } from 'vitest';
import { progressBar, takesColours } from './output';

test.each<[env: NodeJS.ProcessEnv, isTerminal: boolean, colours: boolean]>([
  [{}, true, true],
  [{}, false, false],
  [{ NO_COLOR: '1' }, true, false],
  [{ NO_COLOR: '', TERM: 'dumb' }, true, false],
  [{ FORCE_COLOR: '1' }, false, true],
  [{ FORCE_COLOR: '0' }, true, false],
])('with %j, on a terminal: %s, colours are shown: %s', (env, isTerminal, colours) => {
  expect(takesColours(env, isTerminal)).toBe(colours);
});

/** What a bar writes for the given steps; the last one ends it. */
function written(total: number, steps: readonly number[], isTTY: boolean): string {
  let text = '';
  const write = (piece: unknown) => {
    text += piece;
    return true;
  };
  const show = progressBar('Copy', total, { write, isTTY });
  for (const [index, done] of steps.entries()) show(done, index === steps.length - 1);
  return text;
}

test.each<[title: string, total: number, steps: number[], isTTY: boolean, expected: RegExp]>([
  ['overwrites its line on a terminal', 4, [1, 4], true, /^\rCopy \[#{8}\.{22}\] 25 %\rCopy \[#{30}\] 100 %\n$/],
  ['has a line for every tenth part elsewhere', 100, [1, 2, 12, 100], false, /^(Copy \[[#.]{30}\] (1|12|100) %\n){3}$/],
  ['is full for nothing', 0, [0], false, /^Copy \[#{30}\] 100 %\n$/],
])('a progress bar %s', (_, total, steps, isTTY, expected) => {
  expect(written(total, steps, isTTY)).toMatch(expected);
});
