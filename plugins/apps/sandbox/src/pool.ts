import type { Language } from './language-contexts';
import { Worker, type WorkerOptions } from './worker';

/** Milliseconds without any session after which all isolates are disposed of. */
const idleTime = 10_000;

/** Keeps isolates ready. The supervisor limits how many are in use: `take` always gives one. */
export class Pool {
  private readonly idle: Worker[] = [];
  /** Languages of earlier sessions, the latest last; a new worker prepares for each of them. */
  private readonly languages: Set<Language>;
  private taken = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: WorkerOptions & { isolates: number; languages: readonly Language[] }) {
    this.languages = new Set(options.languages);
    this.idle.push(this.create());
  }

  /**
   * Takes an idle worker (ready and most recently used first: its scripts are compiled), else a new one.
   */
  take(language: Language): Worker {
    clearTimeout(this.timer);
    this.taken += 1;
    const worker = this.idle.filter((one) => one.ready(language)).at(-1) ?? this.idle.at(-1);
    if (worker) this.idle.splice(this.idle.indexOf(worker), 1);
    this.expect(language);
    return worker ?? this.create();
  }

  /** Takes back a worker whose session ended well. */
  release(worker: Worker): void {
    if (this.idle.length < this.options.isolates) {
      this.idle.push(worker);
      void worker.reset().then(
        (fresh) => fresh || this.remove(worker),
        () => this.remove(worker),
      );
    } else worker.dispose();
    this.afterSession();
  }

  /** Ends a worker whose session did not end well. */
  discard(worker: Worker): void {
    worker.dispose();
    this.refill();
    this.afterSession();
  }

  /** Disposes of a worker that is used up, unless a session has taken it: it is checked again after that session. */
  private remove(worker: Worker): void {
    const index = this.idle.indexOf(worker);
    if (index < 0) return;
    this.idle.splice(index, 1);
    worker.dispose();
    this.refill();
  }

  /** Keeps at least one worker ready for the next session. */
  private refill(): void {
    if (this.idle.length === 0) this.idle.push(this.create());
  }

  /** Prepares idle workers for a language that no session has used before. */
  private expect(language: Language): void {
    if (this.languages.has(language)) return;
    this.languages.add(language);
    for (const worker of this.idle) worker.warm(language);
  }

  private afterSession(): void {
    this.taken -= 1;
    if (this.taken > 0) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.endWhenIdle(), idleTime);
    this.timer.unref();
  }

  private endWhenIdle(): void {
    for (const worker of this.idle.splice(0)) worker.dispose();
    this.idle.push(this.create());
  }

  private create(): Worker {
    const worker = new Worker(this.options);
    for (const language of this.languages) worker.warm(language);
    return worker;
  }
}
