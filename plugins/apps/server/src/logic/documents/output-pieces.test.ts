import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { inPieces } from './output-pieces';

const entry = (id: number, more: object = {}) => ({ id, ...more });
const entries = (count: number, more: object = {}) => Array.from({ length: count }, (_, id) => entry(id, more));

/** Pieces that were sanitised. */
function spy() {
  const pieces: unknown[] = [];
  const show = async (value: unknown) => {
    pieces.push(value);
    return value;
  };
  return { pieces, show };
}

test('a long list is sanitised in pieces, in order, and others are served between them', async () => {
  const { pieces, show } = spy();
  let rounds = 0;
  let isDone = false;
  const others = (async () => {
    for (; !isDone; rounds += 1) await setImmediate();
  })();
  const busy = async (value: unknown) => {
    const end = performance.now() + 12;
    while (performance.now() < end);
    return show(value);
  };
  expect(await inPieces(entries(120), busy)).toEqual(entries(120));
  isDone = true;
  await others;
  expect(pieces.map((piece) => (piece as unknown[]).length)).toEqual([50, 50, 20]);
  expect(rounds).toBeGreaterThan(2);
});

test('what entries populate counts for a piece; values inside of JSON do not', async () => {
  const { pieces, show } = spy();
  await inPieces(entries(6, { parts: entries(24), json: entries(24).map((one) => ({ one })) }), show);
  expect(pieces.map((piece) => (piece as unknown[]).length)).toEqual([2, 2, 2, 0]);
});

test('one entry, none and null are passed on', async () => {
  for (const value of [entry(1), [], null, undefined]) expect(await inPieces(value, async (one) => one)).toEqual(value);
});

test('a result that levels have multiplied is refused before it is sanitised', async () => {
  const { pieces, show } = spy();
  const shared = entries(60, { inner: entries(60) });
  for (const found of [entry(1, { shared }), [entry(1, { shared })], entries(2_501)])
    await expect(inPieces(found, show)).rejects.toMatchObject({ name: 'PayloadTooLargeError', status: 413 });
  expect(pieces).toEqual([]);
});
