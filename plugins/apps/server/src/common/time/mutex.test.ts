import { expect, test } from 'vitest';
import { FairMutex } from './mutex';

test('one work runs at a time, the one whose request has used least is next', async () => {
  const mutex = new FairMutex();
  const done: string[] = [];
  const run = async (name: string, time: number) => {
    const free = await mutex.lock(time);
    done.push(name);
    await new Promise((resolve) => setTimeout(resolve, 1));
    free();
  };
  await Promise.all([run('first', 9), run('much', 1_000), run('some', 100), run('little', 0)]);
  expect(done).toEqual(['first', 'little', 'some', 'much']);
});

test('who has waited too long is refused and never runs, and the others go on', async () => {
  const mutex = new FairMutex();
  const free = await mutex.lock(0);
  const late = mutex.lock(0, { time: 5, error: () => new Error('late') }).then(() => 'ran');
  await expect(late).rejects.toThrow('late');
  const next = mutex.lock(0, { time: 10_000, error: () => new Error('late') });
  free();
  (await next)();
  (await mutex.lock(0))();
});
