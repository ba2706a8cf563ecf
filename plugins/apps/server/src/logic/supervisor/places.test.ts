import { expect, test } from 'vitest';
import { createPlaces } from './places';

const soon = () => new Promise((resolve) => setTimeout(resolve, 5));

/** Enters so often; `held` has the places that were got, `refused` the statuses of those that were not. */
function crowd(places: ReturnType<typeof createPlaces>, program: string, count: number, patience = 1000) {
  const held: (() => void)[] = [];
  const refused: number[] = [];
  for (let one = 0; one < count; one += 1)
    places.enter(program, patience).then(
      (leave) => held.push(leave),
      ({ status }) => refused.push(status),
    );
  return { held, refused };
}

test.each([
  { most: 8, gets: 6 },
  { most: 4, gets: 3 },
  { most: 2, gets: 2 },
  { most: 1, gets: 1 },
])('of $most places a program gets $gets, and others what is left', async ({ most, gets }) => {
  const places = createPlaces(most);
  const greedy = crowd(places, 'greedy', 20);
  const other = crowd(places, 'other', 20);
  await soon();
  expect([greedy.held.length, other.held.length]).toEqual([gets, most - gets]);
});

test('who comes first has the next place, unless its program has its share', async () => {
  const places = createPlaces(4);
  const first = crowd(places, 'first', 5);
  const second = crowd(places, 'second', 2);
  await soon();
  expect([first.held.length, second.held.length]).toEqual([3, 1]);
  second.held[0]();
  second.held[0]();
  await soon();
  expect([first.held.length, second.held.length]).toEqual([3, 2]);
  first.held[0]();
  await soon();
  expect([first.held.length, second.held.length]).toEqual([4, 2]);
});

test('a program does not get the whole queue; who waits too long is asked to come again', async () => {
  const places = createPlaces(2);
  const greedy = crowd(places, 'greedy', 100, 20);
  const other = crowd(places, 'other', 10, 20);
  await soon();
  expect([greedy.held.length, greedy.refused.length]).toEqual([2, 50]);
  expect(other.refused).toEqual([]);
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(new Set([...greedy.refused, ...other.refused])).toEqual(new Set([503]));
  expect([greedy.refused.length, other.refused.length]).toEqual([98, 10]);
});
