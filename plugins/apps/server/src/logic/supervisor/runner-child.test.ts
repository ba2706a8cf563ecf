import { once } from 'node:events';
import { expect, test } from 'vitest';
import { makePrograms } from '../testing/harness';
import { spawnRunner } from './runner-process';

// An exit with a code waits for the threads of isolates: one in an endless loop would outlive the server.
test('a runner whose server is gone is ended by a signal', async () => {
  const made = await makePrograms();
  const options = {
    isolates: 1,
    memory: 64,
    languages: ['javascript' as const],
    messageSize: 1024 * 1024,
    packageManager: 'npm' as const,
    reuseAfter: null,
    alone: false,
  };
  const { child, pipe } = spawnRunner(made.runner, options, { command: [] });
  await once(pipe, 'data');
  pipe.destroy();
  expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
  await made.remove();
});
