import { expect, test } from 'vitest';
import { HeldJobs } from './ends';
import type { Claimed } from './queue';

const claim = (app: string, id: string) => ({ job: { id, key: { site: 's', app } } }) as Claimed;
const name = (app: string) => JSON.stringify(['s', app]);

/** A process with two workers, whose jobs take some milliseconds. */
function held(time: number): HeldJobs {
  const jobs = new HeldJobs(2);
  for (let at = 0; at < 100; at += 1) jobs.measured(time);
  return jobs;
}

test('apps take turns', () => {
  const jobs = held(5);
  for (const id of ['a1', 'a2', 'a3', 'b1', 'b2']) jobs.add(claim(id.charAt(0), id));
  const order = Array.from({ length: 6 }, () => jobs.take()?.job.id);
  expect(order).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', undefined]);
});

test.each([
  { time: 0.5, most: 40 },
  { time: 5, most: 39 },
  { time: 20, most: 9 },
  { time: 30, most: 0 },
])('jobs of $time ms: $most are claimed ahead', ({ time, most }) => {
  expect(held(time).room(name('a'), 1)).toBe(most);
});

test('an app has its share, half of which is to be begun before more is claimed; one that has none need not wait', () => {
  const jobs = held(0.5);
  expect(jobs.room(name('a'), 4)).toBe(10);
  for (let at = 0; at < 40; at += 1) jobs.add(claim('a', `a${at}`));
  expect(jobs.room(name('a'), 4)).toBe(0);
  expect(jobs.room(name('b'), 4)).toBe(1);
  for (let at = 0; at < 35; at += 1) jobs.take();
  expect(jobs.room(name('a'), 4)).toBe(5);
  jobs.giveBack();
  expect(jobs.room(name('a'), 1)).toBe(0);
});
