import { setFlagsFromString } from 'node:v8';

/** Newer engines always have WebAssembly; there the prelude alone removes it. */
const canSwitch = Number(process.versions.modules) < 137;

/** Makes contexts without WebAssembly from now on: only Python needs it, and it takes a seventh of a new context's time. */
export function withoutWebAssembly(): void {
  if (canSwitch) setFlagsFromString('--no-expose-wasm');
}

/** Runs `work`, in which new contexts have WebAssembly. */
export function withWebAssembly<T>(work: () => T): T {
  if (canSwitch) setFlagsFromString('--expose-wasm');
  try {
    return work();
  } finally {
    withoutWebAssembly();
  }
}
