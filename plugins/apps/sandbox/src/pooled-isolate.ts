import type { WireProgram } from '../../shared/logic-protocol';
import type { IsolatedVm, ivm } from './isolated-vm';
import { JavaScriptContexts } from './javascript-contexts';
import type { EntryTime, HostCall, Language, LanguageContexts } from './language-contexts';
import type { PythonSource } from './python';
import { PythonContext } from './python-context';
import type { ReusePolicy } from './reuse-policy';

/** Called while a session has the isolate. */
export interface IsolateEvents {
  /** A host call of the sandbox. */
  host: HostCall;
  /** The isolate ran out of memory in a way that blocks its thread permanently. */
  catastrophe(): void;
}

/** What all isolates of a runner are made with. */
export interface PooledIsolateOptions {
  vm: IsolatedVm;
  /** Megabytes. */
  memory: number;
  /** Made at the first call. */
  python(): PythonSource;
  reuse: ReusePolicy;
}

/** What the prelude has answered to a request. */
export interface EntryResult {
  answer: string;
  /** Bytes by which the isolate's memory has grown since the session began; 0 if it was collected meanwhile. */
  growth: number;
}

/** Sessions in a row after which an isolate that holds much memory is replaced: less is garbage that is not collected yet. */
const maxLargeSessions = 32;

/** One isolate. It serves one session at a time, with contexts for each language that sessions have used. */
export class PooledIsolate {
  readonly native: ivm.Isolate;
  /** The session that has this isolate, set by it. */
  events: IsolateEvents | null = null;
  private readonly contexts = new Map<Language, LanguageContexts>();
  private current: LanguageContexts | null = null;
  /** Bytes of memory before the session; null: not measured since a language was prepared. */
  private heapBefore: number | null = null;
  /** Sessions in a row after which the isolate held much memory. */
  private largeSessions = 0;

  constructor(private readonly options: PooledIsolateOptions) {
    const onCatastrophicError = () => this.events?.catastrophe();
    this.native = new options.vm.Isolate({ memoryLimit: options.memory, onCatastrophicError });
  }

  /** Prepares for sessions in a language before the first one. */
  warm(language: Language): LanguageContexts {
    const known = this.contexts.get(language);
    if (known) return known;
    const contexts = this.makeContexts(language);
    this.contexts.set(language, contexts);
    this.heapBefore = null;
    return contexts;
  }

  /** Whether a session in the language can begin at once. */
  ready(language: Language): boolean {
    return this.contexts.get(language)?.ready === true;
  }

  /** Whether a session of the program finds a context here that has served others. */
  has(program: string): boolean {
    const contexts = this.contexts.get('javascript');
    return contexts instanceof JavaScriptContexts && contexts.has(program);
  }

  /** Loads the session's program without running its code. Rejects if it does not compile. */
  async load(program: WireProgram): Promise<void> {
    const current = this.warm(program.language);
    this.current = current;
    if (this.heapBefore === null) {
      await current.prepared;
      this.heapBefore = await this.heap();
    }
    await current.load(program);
  }

  /**
   * Passes one request to the prelude, and measures the memory after it. Rejects like `LanguageContexts.enter`. The result is not
   * requested as a copy: a text needs none, and anything else is refused before it is copied.
   */
  async enter(request: string, time: EntryTime): Promise<EntryResult> {
    const { current } = this;
    if (!current) throw new Error('no program is loaded');
    const entered = current.enter(request, time);
    // Where it is asked for with the request, the isolate measures it before its thread sleeps again.
    const [answer, heap] = current.isIdleAfter
      ? [await entered, this.heapNow()]
      : await Promise.all([entered, this.heap()]);
    if (typeof answer !== 'string') throw new Error('the sandbox gave no text');
    return { answer, growth: Math.max(0, heap - (this.heapBefore ?? 0)) };
  }

  /** Discards the session's state and prepares for the next one. Resolves to false when the isolate must be disposed of. */
  async reset(): Promise<boolean> {
    this.events = null;
    const { current } = this;
    this.current = null;
    const fresh = (await current?.reset()) ?? true;
    // An idle isolate is measured synchronously without waiting; a session may have taken it meanwhile.
    this.heapBefore = this.events ? await this.heap() : this.heapNow();
    const isLean = this.heapBefore < (this.options.memory * 1024 * 1024) / 4;
    this.largeSessions = isLean ? 0 : this.largeSessions + 1;
    if (!fresh || this.largeSessions < maxLargeSessions) return fresh;
    // What is kept for further sessions goes before the isolate.
    this.largeSessions = 0;
    return !this.events && [...this.contexts.values()].some((contexts) => contexts.dropKept());
  }

  /** Bytes of the memory of an isolate in which nothing runs. */
  private heapNow(): number {
    return sizeOf(this.native.getHeapStatisticsSync());
  }

  /**
   * Bytes of the isolate's memory. It is not measured synchronously while code runs: this thread, and with it
   * every other session, would wait for a theme's code.
   */
  private async heap(): Promise<number> {
    return sizeOf(await this.native.getHeapStatistics());
  }

  /** Ends the isolate, also while it runs; safe to call twice. */
  dispose(): void {
    try {
      this.native.dispose();
    } catch {
      // The isolate has already ended.
    }
  }

  private makeContexts(language: Language): LanguageContexts {
    const { vm, python, reuse } = this.options;
    const host: HostCall = (data) => this.events?.host(data) ?? Promise.resolve('');
    return language === 'python'
      ? new PythonContext(vm, this.native, host, python())
      : new JavaScriptContexts(vm, this.native, host, reuse);
  }
}

/** Bytes of an isolate's heap and of what it holds outside of it. */
function sizeOf(heap: ivm.HeapStatistics): number {
  return heap.used_heap_size + heap.externally_allocated_size;
}
