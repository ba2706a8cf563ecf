/** The used part of WebAssembly, which neither the library of ECMAScript nor Node's types declare. */
declare namespace WebAssembly {
  type ImportValue = (...args: number[]) => unknown;
  type Imports = Record<string, Record<string, ImportValue>>;

  class Module {
    constructor(bytes: ArrayBuffer | Uint8Array);
    static imports(module: Module): { module: string; name: string }[];
  }

  class Instance {
    constructor(module: Module, imports: Imports);
    readonly exports: Record<string, unknown>;
  }

  interface Memory {
    readonly buffer: ArrayBuffer;
    /** Adds pages of 64 KiB. */
    grow(pages: number): number;
  }

  interface Table {
    get(index: number): (...args: number[]) => unknown;
  }
}
