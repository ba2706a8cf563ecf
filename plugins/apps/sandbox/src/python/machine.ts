import { decode, encodeInto, maxBytes } from './utf8';

/** Kinds of values that cross between JavaScript and Python, as MicroPython's port numbers them. */
const kinds = { exception: -1, textIn: 5, textOut: 5, objectOut: 7 };

/** Bytes of one such value: a kind and two words. */
const valueSize = 12;

/** Bytes of the interpreter's stack, and of its heap before it takes more. */
const pythonStack = 64 * 1024;
const firstHeap = 1024 * 1024;

/** Name and number of the only JavaScript object that Python sees: the bridge function. */
const bridge = { module: '_bridge', reference: 2 };

const page = 64 * 1024;

/** Calls between two ticks: fewer than the interpreter makes in a millisecond. */
const callsOfTick = 2000;

export interface MachineOptions {
  module: WebAssembly.Module;
  /** Pages of 64 KiB that the machine may grow to. */
  pages: number;
  /** Memory of a machine at rest, to begin with; without one, Python is started. */
  image: Uint8Array | null;
  /** The bridge function: answers Python's calls. */
  bridge(text: string): string;
  /** The current time in milliseconds since 1970, for Python's `time` and `datetime`; without it, the real time. */
  now?(): number;
  /** Called when Python asks for the time. */
  clockRead?(): void;
  /** Called periodically while Python runs. */
  tick?(): void;
}

interface Exports {
  memory: WebAssembly.Memory;
  __indirect_function_table: WebAssembly.Table;
  __wasm_call_ctors(): void;
  malloc(size: number): number;
  free(pointer: number): void;
  setThrew(threw: number, value: number): void;
  mp_js_init(stack: number, heap: number): void;
  proxy_c_init(): void;
  mp_js_register_js_module(name: number, value: number): void;
  mp_js_do_exec(source: number, length: number, out: number): void;
  emscripten_stack_get_current(): number;
  mp_sched_keyboard_interrupt(): void;
  _emscripten_stack_restore(pointer: number): void;
  emscripten_stack_init(): void;
}

/** Error numbers of the system calls: no such file, not an open file. */
const noFile = -44;
const notOpen = 8;

/**
 * MicroPython in WebAssembly, without the environment that its package brings (files, terminal, JavaScript objects):
 * all that Python can reach is the clock, random numbers and `bridge`, text in and text out. Python can change only
 * this instance's memory.
 */
export class Machine {
  private readonly exports: Exports;
  private readonly firstSize: number;
  /** Calls of C since the last tick. */
  private calls = 0;

  constructor(private readonly options: MachineOptions) {
    const imports: WebAssembly.Imports = {};
    for (const { module, name } of WebAssembly.Module.imports(options.module)) {
      imports[module] ??= {};
      imports[module][name] = this.give(name);
    }
    this.exports = new WebAssembly.Instance(options.module, imports).exports as unknown as Exports;
    this.exports.emscripten_stack_init();
    this.firstSize = this.size;
    if (options.image) this.bytes.set(options.image);
    else this.start();
  }

  /** Bytes of memory that the machine has. */
  get size(): number {
    return this.exports.memory.buffer.byteLength;
  }

  /** The memory without the zeros at its end: give it to other machines of the same module. */
  image(): Uint8Array {
    const { bytes } = this;
    let end = bytes.length;
    while (end > 0 && bytes[end - 1] === 0) end -= 1;
    return bytes.slice(0, end);
  }

  /** Restores the memory from an image. False: it has grown; make a new machine. */
  restore(image: Uint8Array): boolean {
    if (this.size > this.firstSize) return false;
    this.bytes.set(image);
    this.bytes.fill(0, image.length);
    return true;
  }

  /** Runs a program's text in `__main__`. Throws when it ends with an exception. */
  run(source: string): void {
    const { exports } = this;
    const out = exports.malloc(valueSize);
    const [text, length] = this.write(source);
    exports.mp_js_do_exec(text, length, out);
    const failed = this.word(out) === kinds.exception;
    const message = failed ? this.read(out) : '';
    exports.free(text);
    exports.free(out);
    if (failed) throw new Error(message);
  }

  /** Makes Python raise KeyboardInterrupt at its current position. */
  interrupt(): void {
    this.exports.mp_sched_keyboard_interrupt();
  }

  private start(): void {
    const { exports } = this;
    exports.__wasm_call_ctors();
    exports.mp_js_init(pythonStack, firstHeap);
    exports.proxy_c_init();
    const [name] = this.write(bridge.module);
    const value = exports.malloc(valueSize);
    this.setWord(value, kinds.objectOut);
    this.setWord(value + 4, bridge.reference);
    exports.mp_js_register_js_module(name, value);
  }

  private get bytes(): Uint8Array {
    return new Uint8Array(this.exports.memory.buffer);
  }

  private word(pointer: number): number {
    return new DataView(this.exports.memory.buffer).getInt32(pointer, true);
  }

  private setWord(pointer: number, value: number): void {
    new DataView(this.exports.memory.buffer).setInt32(pointer, value, true);
  }

  /** Text in new memory of the machine, with a zero at its end; its address and its length in bytes. */
  private write(text: string): [pointer: number, length: number] {
    const pointer = this.exports.malloc(maxBytes(text) + 1);
    if (pointer === 0) throw new RangeError('MemoryError');
    const { bytes } = this;
    const length = encodeInto(text, bytes, pointer);
    bytes[pointer + length] = 0;
    return [pointer, length];
  }

  /** The text of a value from Python. */
  private read(value: number): string {
    const [length, pointer] = [this.word(value + 4) >>> 0, this.word(value + 8) >>> 0];
    return decode(this.bytes.subarray(pointer, pointer + length));
  }

  /** The interpreter's imports by name; a function that is not here fails when it is called. */
  private give(name: string): WebAssembly.ImportValue {
    if (name.startsWith('invoke_')) return (...args: number[]) => this.invoke(args);
    if (name.startsWith('__syscall_')) return () => noFile;
    return this.given[name] ?? refused;
  }

  private readonly given: Record<string, (...args: number[]) => number | undefined> = {
    call1: (reference, _viaCall, value, out) => this.callOut(reference, value, out),
    has_attr: () => 0,
    lookup_attr: () => 0,
    proxy_js_free_obj: () => undefined,
    mp_js_random_u32: () => (Math.random() * 2 ** 32) >>> 0,
    mp_js_ticks_ms: () => {
      this.options.clockRead?.();
      return Date.now() & 0x3fffffff;
    },
    mp_js_time_ms: () => {
      this.options.clockRead?.();
      return this.options.now?.() ?? Date.now();
    },
    emscripten_resize_heap: (wanted) => this.grow(wanted >>> 0),
    fd_close: () => notOpen,
    fd_read: () => notOpen,
    fd_seek: () => notOpen,
    fd_sync: () => notOpen,
    fd_write: () => notOpen,
    _emscripten_throw_longjmp: () => {
      throw Infinity;
    },
  };

  private callOut(reference: number, value: number, out: number): undefined {
    if (reference !== bridge.reference || this.word(value) !== kinds.textIn) refused();
    const [pointer, length] = this.write(this.options.bridge(this.read(value)));
    this.setWord(out, kinds.textOut);
    this.setWord(out + 4, length);
    this.setWord(out + 8, pointer);
  }

  /** C's setjmp and longjmp: a thrown number is the jump. The interpreter makes most of its calls in this way. */
  private invoke([index = 0, ...args]: number[]): unknown {
    this.calls += 1;
    if (this.calls > callsOfTick) {
      this.calls = 0;
      this.options.tick?.();
    }
    const stack = this.exports.emscripten_stack_get_current();
    try {
      return this.exports.__indirect_function_table.get(index)(...args);
    } catch (error) {
      if (typeof error !== 'number') throw error;
      this.exports._emscripten_stack_restore(stack);
      this.exports.setThrew(1, 0);
      return undefined;
    }
  }

  private grow(wanted: number): number {
    const has = this.size / page;
    // A quarter more than requested: growing copies nothing, but each time is a system call.
    const pages = Math.min(this.options.pages, Math.max(Math.ceil(wanted / page), Math.ceil(has * 1.25)));
    if (pages * page < wanted) return 0;
    this.exports.memory.grow(pages - has);
    return 1;
  }
}

function refused(): never {
  throw new TypeError('there is nothing outside of Python');
}
