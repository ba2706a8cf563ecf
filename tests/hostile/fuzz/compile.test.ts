import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { buildWorker } from '../../../plugins/apps/server/build.mjs';
import { isAppsError } from '../../../plugins/apps/server/src/common/errors';
import { createCompiler } from '../../../plugins/apps/server/src/logic/compile';
import { programOf } from '../../../plugins/apps/server/src/logic/testing/harness';
import { createWorkers, type Workers } from '../../../plugins/apps/server/src/workers';
import { texts } from './compile';
import { longestWait } from './grow';

/** Folder in which Node finds the packages of the worker. */
const folder = join(__dirname, '../../../plugins/apps/node_modules/.cache/fuzz-compile');
const path = join(folder, 'worker.js');
const logger = { error: vi.fn() };
let workers: Workers;

beforeAll(async () => {
  await buildWorker(path);
  workers = createWorkers({ path, count: 1, memory: 256, logger });
});
afterAll(async () => {
  await workers.destroy();
  rmSync(folder, { recursive: true });
});

const seeds = process.env.FUZZ_SEEDS?.split(',').map(Number) ?? [1, 2, 3];
const rounds = Number(process.env.FUZZ_ROUNDS ?? 40);

/** Every text is compiled or refused, and this thread, like the server's, is not blocked meanwhile. */
test.each(seeds)('logic files, seed %i', { timeout: 600_000 }, async (seed) => {
  const compile = createCompiler(workers);
  for (const { language, name, text } of texts(seed, rounds, 250_000)) {
    const begin = performance.now();
    let result: unknown = 'compiled';
    const wait = await longestWait(async () => {
      try {
        await compile(programOf({ [`blocks/a.${language}`]: text }, `blocks/a.${language}`));
      } catch (error) {
        if (!isAppsError(error, 'LogicError')) throw error;
        result = error.message;
      }
    });
    const time = performance.now() - begin;
    if (time > 700 || /takes/.test(String(result)))
      console.log(`FOUND ${language} ${text.length} ${name}: ${time.toFixed(0)} ms, ${result}`);
    expect(wait, name).toBeLessThan(500);
    expect(time, name).toBeLessThan(5000);
  }
  expect(logger.error).not.toHaveBeenCalled();
});
