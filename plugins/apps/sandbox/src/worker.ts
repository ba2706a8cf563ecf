import type { WireProgram } from '../../shared/logic-protocol';
import type { IsolatedVm, ivm } from './isolated-vm';
import { JavaScriptContexts } from './javascript-contexts';
import type { HostCall, Language, LanguageContexts } from './language-contexts';
import type { PythonSource } from './python';
import { PythonContext } from './python-context';

export interface WorkerEvents {
  host: HostCall;
  /** The isolate ran out of memory in a way that leaves its thread stuck for ever. */
  catastrophe(): void;
}

export interface WorkerOptions {
  vm: IsolatedVm;
  /** Megabytes. */
  memory: number;
  /** Made at the first call. */
  python(): PythonSource;
}

/** Milliseconds by which V8's timeout is later than the session's, which handles logic in a host call itself. */
const engineDelay = 5;

/** Sessions after which an isolate's memory is measured. */
const sessionsBetweenMeasurements = 8;

/** One isolate. It serves one session at a time, with contexts for each language that sessions have used. */
export class Worker {
  readonly isolate: ivm.Isolate;
  /** The session that has this worker, set by it. */
  events: WorkerEvents | null = null;
  private readonly contexts = new Map<Language, LanguageContexts>();
  private current: LanguageContexts | null = null;
  private sessions = 0;

  constructor(private readonly options: WorkerOptions) {
    const onCatastrophicError = () => this.events?.catastrophe();
    this.isolate = new options.vm.Isolate({ memoryLimit: options.memory, onCatastrophicError });
  }

  /** Prepares for sessions in a language before the first one. */
  warm(language: Language): LanguageContexts {
    const contexts = this.contexts.get(language) ?? this.makeContexts(language);
    this.contexts.set(language, contexts);
    return contexts;
  }

  /** Whether a session in the language can begin at once. */
  ready(language: Language): boolean {
    return this.contexts.get(language)?.ready === true;
  }

  /** Loads the session's program without running its code. Rejects if it does not compile. */
  load(program: WireProgram): Promise<void> {
    this.current = this.warm(program.language);
    return this.current.load(program);
  }

  /**
   * Passes one request to the prelude; only a string comes out. Rejects when the isolate ends, when logic has rejected a
   * promise that it does not await, and some milliseconds after `time`: the error then has the frames where logic stood.
   * The engine's timeout covers less than the session's clock does, which ends the isolate in any case. The result is not
   * requested as a copy: a text needs none, and anything else is refused before it is copied.
   */
  async enter(data: string, time: number): Promise<string> {
    if (!this.current?.entry) throw new Error('no program is loaded');
    const options = { result: { promise: true }, timeout: Math.ceil(time) + engineDelay };
    const result: unknown = await this.current.entry.apply(undefined, [data, time], options);
    if (typeof result !== 'string') throw new Error('the sandbox gave no text');
    return result;
  }

  /** Discards the session's state and prepares for the next one. Resolves to false when the worker must be disposed of. */
  async reset(): Promise<boolean> {
    this.events = null;
    const { current } = this;
    this.current = null;
    const fresh = (await current?.reset()) ?? true;
    this.sessions += 1;
    return fresh && (this.sessions % sessionsBetweenMeasurements > 0 || (await this.isLean()));
  }

  /**
   * Whether sessions have left little memory behind. Never measured synchronously: the next session may have begun and be
   * waiting for an answer of this thread.
   */
  private async isLean(): Promise<boolean> {
    const heap = await this.isolate.getHeapStatistics();
    const used = heap.used_heap_size + heap.externally_allocated_size;
    return used < (this.options.memory * 1024 * 1024) / 4;
  }

  /** Ends the isolate, also while it runs; safe to call twice. */
  dispose(): void {
    try {
      this.isolate.dispose();
    } catch {
      // It has already ended by itself.
    }
  }

  private makeContexts(language: Language): LanguageContexts {
    const { vm, python } = this.options;
    const host: HostCall = (data) => this.events?.host(data) ?? Promise.resolve('');
    return language === 'python'
      ? new PythonContext(vm, this.isolate, host, python())
      : new JavaScriptContexts(vm, this.isolate, host);
  }
}
