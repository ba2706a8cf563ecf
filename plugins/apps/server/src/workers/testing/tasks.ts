import { AppsError } from '../../common/errors';
import { serveTasks } from '../messages';

/** Tasks for the tests of this folder. */
serveTasks({
  echo: (input: unknown) => input,
  pid: () => process.pid,
  later: async ({ time, value }: { time: number; value: unknown }) => {
    await new Promise((resolve) => setTimeout(resolve, time));
    return value;
  },
  appsError: () => {
    throw new AppsError('LogicError', 'wrong', { position: { file: 'a.js', line: 2, column: 3 } });
  },
  plainError: () => {
    throw new TypeError('a mistake');
  },
  spin: () => {
    for (;;);
  },
  fill: () => {
    const all: number[][] = [];
    for (;;) all.push(new Array(10_000).fill(all.length));
  },
  abort: () => process.abort(),
  exit: () => process.exit(0),
  function: () => () => 1,
  junk: () => process.send?.({ type: 'error', error: { name: 'EvilError', message: 1 } }),
  environment: () => ({ env: Object.keys(process.env), args: process.argv.slice(2) }),
  reach: async () => {
    const attempt = (work: () => unknown) => {
      try {
        return work() !== undefined;
      } catch (error) {
        return (error as NodeJS.ErrnoException).code;
      }
    };
    const { readFileSync, readdirSync, rmSync, writeFileSync } = await import('node:fs');
    const { spawnSync } = await import('node:child_process');
    const { Worker } = await import('node:worker_threads');
    return {
      reading: attempt(() => readFileSync('/etc/hostname')),
      listing: attempt(() => readdirSync(process.cwd())),
      writing: attempt(() => {
        writeFileSync('left', '');
        // The confined processes of other tests have the same folder.
        rmSync('left');
      }),
      process: attempt(() => spawnSync('id')),
      thread: attempt(() => new Worker('', { eval: true })),
      'own code': attempt(() => readFileSync(__filename)),
    };
  },
  grow: () => {
    process.memoryUsage.rss = () => 2 ** 40;
    return process.pid;
  },
});
