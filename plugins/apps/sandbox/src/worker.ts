import type { IsolatedVm, ivm } from './isolated-vm';
import { JavaScriptRoom } from './javascript-room';
import type { WireProgram } from './protocol';
import type { PythonSource } from './python';
import { PythonRoom } from './python-room';
import type { HostCall, Language, Room } from './room';

export interface WorkerEvents {
  host: HostCall;
  /** The isolate ran out of memory in a way that leaves its thread stuck for ever. */
  catastrophe(): void;
}

export interface WorkerOptions {
  vm: IsolatedVm;
  /** Megabytes. */
  memory: number;
  /** Made when first asked for. */
  python(): PythonSource;
}

/** Milliseconds by which V8's timeout is later than the session's, which handles logic in a host call itself. */
const engineDelay = 5;

/** Sessions after which an isolate's memory is looked at. */
const sessionsBetweenLooks = 8;

/** One isolate. It serves one session at a time, with a room for each language that has been asked for. */
export class Worker {
  readonly isolate: ivm.Isolate;
  /** The session that has this worker, set by it. */
  events: WorkerEvents | null = null;
  private readonly rooms = new Map<Language, Room>();
  private room: Room | null = null;
  private sessions = 0;

  constructor(private readonly options: WorkerOptions) {
    const onCatastrophicError = () => this.events?.catastrophe();
    this.isolate = new options.vm.Isolate({ memoryLimit: options.memory, onCatastrophicError });
  }

  /** Gets ready for sessions in a language before there is one. */
  warm(language: Language): Room {
    const room = this.rooms.get(language) ?? this.makeRoom(language);
    this.rooms.set(language, room);
    return room;
  }

  /** Whether a session in the language can begin at once. */
  ready(language: Language): boolean {
    return this.rooms.get(language)?.ready === true;
  }

  /** Makes the session's program known; runs no code of its. Rejects if it does not compile. */
  load(program: WireProgram): Promise<void> {
    this.room = this.warm(program.language);
    return this.room.load(program);
  }

  /**
   * Hands one request to the prelude; only a string comes out. Rejects when the isolate ends, when logic has rejected a
   * promise that it does not await, and some milliseconds after `time`: the error then has the frames where logic stood.
   * The engine's timeout covers less than the session's clock does, which ends the isolate in any case. The result is not
   * asked for as a copy: a text comes out without, and anything else is refused before it is copied.
   */
  async enter(data: string, time: number): Promise<string> {
    if (!this.room?.entry) throw new Error('no program is loaded');
    const options = { result: { promise: true }, timeout: Math.ceil(time) + engineDelay };
    const result: unknown = await this.room.entry.apply(undefined, [data, time], options);
    if (typeof result !== 'string') throw new Error('the sandbox gave no text');
    return result;
  }

  /** Forgets the session and gets ready for the next one. Resolves to false: worn out, dispose of the worker. */
  async reset(): Promise<boolean> {
    this.events = null;
    const { room } = this;
    this.room = null;
    const fresh = (await room?.reset()) ?? true;
    this.sessions += 1;
    return fresh && (this.sessions % sessionsBetweenLooks > 0 || (await this.isLean()));
  }

  /**
   * Whether what sessions have left behind is little. Never asked synchronously: the next session may have begun and be
   * waiting for an answer that this thread has to give.
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

  private makeRoom(language: Language): Room {
    const { vm, python } = this.options;
    const host: HostCall = (data) => this.events?.host(data) ?? Promise.resolve('');
    return language === 'python'
      ? new PythonRoom(vm, this.isolate, host, python())
      : new JavaScriptRoom(vm, this.isolate, host);
  }
}
