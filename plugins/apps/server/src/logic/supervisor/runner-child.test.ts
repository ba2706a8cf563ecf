import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { encodeFrame } from '../../../../shared/frames';
import { makePrograms } from '../testing/harness';
import { spawnRunner } from './runner-process';

const options = {
  isolates: 1,
  memory: 64,
  languages: ['javascript' as const],
  messageSize: 1024 * 1024,
  packageManager: 'npm' as const,
  reuseAfter: null,
  alone: false,
};

// An exit with a code waits for the threads of isolates: one in an endless loop would outlive the server.
test('a runner whose server is gone is ended by a signal', async () => {
  const made = await makePrograms();
  const { child, pipe } = spawnRunner(made.runner, options, { command: [] });
  await once(pipe, 'data');
  pipe.destroy();
  expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
  await made.remove();
});

// Such as systemd's at a stop, whose server still answers its open requests.
test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'a runner goes on after a %s that all processes of a service get',
  async (signal) => {
    const made = await makePrograms();
    const { child, pipe } = spawnRunner(made.runner, options, { command: [] });
    await once(pipe, 'data');
    child.kill(signal);
    await pause(100);
    pipe.write(encodeFrame({ kind: 'messages', number: 0, text: '[{"type":"ping"}]' }));
    expect(String((await once(pipe, 'data'))[0])).toMatch(/^pong /);
    pipe.destroy();
    await once(child, 'exit');
    await made.remove();
  },
);
