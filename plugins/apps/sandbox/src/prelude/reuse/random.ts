const { Math: NativeMath } = globalThis;

/** Four whole numbers of 32 bits. */
export type Seed = readonly [number, number, number, number];

/**
 * Replaces `Math.random` by a generator (sfc32) that each session seeds: the engine's has one state for a context, so that the numbers of
 * the next session would follow from those of the last. Returns the function that seeds it.
 */
export function makeRandomSeedable(): (seed: Seed) => void {
  let [a, b, c, d] = [0, 0, 0, 1];
  function bits(): number {
    const sum = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + sum) | 0;
    return sum >>> 0;
  }
  const value = {
    random: () => ((bits() >>> 5) * 0x4000000 + (bits() >>> 6)) / 2 ** 53,
  }.random;
  Object.defineProperty(NativeMath, 'random', { value, writable: true, configurable: true });
  return (seed) => {
    a = seed[0] | 0;
    b = seed[1] | 0;
    c = seed[2] | 0;
    d = seed[3] | 0;
  };
}
