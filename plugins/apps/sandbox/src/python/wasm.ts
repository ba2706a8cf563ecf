/** Number of the section of a WebAssembly module that says how much memory it begins with. */
const memorySection = 5;

/** Bytes before the first section: magic number and version. */
const headerSize = 8;

/**
 * The module with other limits of its memory, in pages of 64 KiB. MicroPython's own begins with 16 MB, most of which
 * would have to be cleared after every request, and ends at 2 GB.
 */
export function limitMemory(module: Uint8Array, pages: { min: number; max: number }): Uint8Array {
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
