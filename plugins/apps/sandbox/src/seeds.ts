import { randomFillSync } from 'node:crypto';

const numbers = new Int32Array(1024);
let next = numbers.length;

/** Four random whole numbers of 32 bits, of the system. */
export function takeSeed(): number[] {
  if (next >= numbers.length) {
    randomFillSync(numbers);
    next = 0;
  }
  const seed = [...numbers.subarray(next, next + 4)];
  next += 4;
  return seed;
}
