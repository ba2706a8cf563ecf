import callsText from 'apps:python-calls';
import { readFileSync } from 'node:fs';
import type { PythonSource } from '.';
import { helpers } from './helpers';
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

/** Number of the section of a WebAssembly module that says how much memory it begins with. */
const memorySection = 5;

/** Bytes before the first section: magic number and version. */
const headerSize = 8;

/**
 * The module with other limits of its memory, in pages of 64 KiB. MicroPython's own begins with 16 MB, most of which
 * would have to be cleared after every request, and ends at 2 GB.
 */
function limitMemory(module: Uint8Array, pages: { min: number; max: number }): Uint8Array {
  for (let at = headerSize; at < module.length; ) {
    const size = readNumber(module, at + 1);
    const end = size.next + size.value;
    if (module[at] === memorySection) {
      // One memory, with a minimum and a maximum size.
      const content = [1, 1, ...numberBytes(pages.min), ...numberBytes(pages.max)];
      const section = [memorySection, ...numberBytes(content.length), ...content];
      return Buffer.concat([module.subarray(0, at), Uint8Array.from(section), module.subarray(end)]);
    }
    at = end;
  }
  throw new Error('The WebAssembly module has no memory');
}

/** An unsigned LEB128 number. */
function readNumber(bytes: Uint8Array, start: number): { value: number; next: number } {
  let value = 0;
  let at = start;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at++] ?? 0;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return { value, next: at };
  }
}

function numberBytes(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...numberBytes(value >>> 7)];
}

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
