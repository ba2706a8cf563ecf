import callsText from 'apps:python-calls';
import { readFileSync } from 'node:fs';
import { helpers } from './helpers';
import type { PythonSource } from './index';
import { Machine } from './machine';
import { operationsText } from './operations';
import contextText from './prelude/context.py';
import datesText from './prelude/dates.py';
import modulesText from './prelude/modules.py';
import recordsText from './prelude/records.py';
import regexText from './prelude/regex.py';
import serveText from './prelude/serve.py';
import typesText from './prelude/types.py';
import valuesText from './prelude/values.py';
import { limitMemory } from './wasm';

/** Run one after the other, in one namespace. */
const prelude = [
  operationsText(),
  typesText,
  modulesText,
  regexText,
  datesText,
  valuesText,
  callsText,
  recordsText,
  contextText,
  serveText,
];

/** Pages of 64 KiB that a machine begins with: what a usual request uses, so that few have to grow. */
const firstPages = 40;

/** MicroPython's module, in the optional package (docs/decisions/python-package.md). */
const wasmFile = () => (require('strapi-plugin-apps-python') as { wasm: string }).wasm;

/**
 * The module and memory image of Python for an isolate: made once a runner, outside of any isolate, by running the prelude.
 * A machine then begins with a copy of the memory. `memory`: megabytes that one may grow to.
 */
export function createPythonSource(memory: number): PythonSource {
  const pages = memory * 16;
  const original = readFileSync(wasmFile());
  const bytes = limitMemory(original, { min: firstPages, max: pages });
  const bridge = (text: string) => helpers[text.slice(0, 1)]?.(text.slice(1)) ?? '';
  const machine = new Machine({ module: new WebAssembly.Module(bytes), image: null, pages, bridge });
  for (const text of prelude) machine.run(text);
  return { module: bufferOf(bytes), image: bufferOf(machine.image()), pages };
}

function bufferOf(bytes: Uint8Array): ArrayBuffer {
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
}
