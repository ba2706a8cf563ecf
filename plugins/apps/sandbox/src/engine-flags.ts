import { setFlagsFromString } from 'node:v8';

/** Makes contexts without WebAssembly from now on: a seventh of a new context's time, and only Python needs it. */
export const withoutWebAssembly = (): void => setFlagsFromString('--no-expose-wasm');

/** Runs `work`, in which new contexts have WebAssembly. */
export function withWebAssembly<T>(work: () => T): T {
  setFlagsFromString('--expose-wasm');
  try {
    return work();
  } finally {
    withoutWebAssembly();
  }
}
