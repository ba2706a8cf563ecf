import type { WireProgram } from '../../shared/logic-protocol';
import type { Language } from './language-contexts';
import { PooledIsolate, type PooledIsolateOptions } from './pooled-isolate';

/** Milliseconds without any session after which all isolates are disposed of. */
const idleTime = 10_000;

/** Keeps isolates ready. The supervisor limits how many are in use: `take` always gives one. */
export class IsolatePool {
  private readonly idle: PooledIsolate[] = [];
  /** Languages of earlier sessions, the latest last; a new isolate prepares for each of them. */
  private readonly languages: Set<Language>;
  private taken = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: PooledIsolateOptions & { isolates: number; languages: readonly Language[] }) {
    this.languages = new Set(options.languages);
    this.idle.push(this.create());
  }

  /**
   * Takes an idle isolate for a session of a program: one that has a context of it, else one that is ready, the most recently used
   * first because its scripts are compiled; else a new one.
   */
  take({ language, key }: WireProgram): PooledIsolate {
    clearTimeout(this.timer);
    this.taken += 1;
    const best = (is: (one: PooledIsolate) => boolean) => this.idle.findLast(is);
    const isolate = best((one) => one.has(key)) ?? best((one) => one.ready(language)) ?? this.idle.at(-1);
    if (isolate) this.idle.splice(this.idle.indexOf(isolate), 1);
    this.expect(language);
    return isolate ?? this.create();
  }

  /** Takes back an isolate whose session ended well. */
  release(isolate: PooledIsolate): void {
    if (this.idle.length < this.options.isolates) {
      this.idle.push(isolate);
      void isolate.reset().then(
        (fresh) => fresh || this.remove(isolate),
        () => this.remove(isolate),
      );
    } else isolate.dispose();
    this.afterSession();
  }

  /** Ends an isolate whose session did not end well. */
  discard(isolate: PooledIsolate): void {
    isolate.dispose();
    this.refill();
    this.afterSession();
  }

  /** Disposes of an isolate that is used up, unless a session has taken it: it is checked again after that session. */
  private remove(isolate: PooledIsolate): void {
    const index = this.idle.indexOf(isolate);
    if (index < 0) return;
    this.idle.splice(index, 1);
    isolate.dispose();
    this.refill();
  }

  /** Keeps at least one isolate ready for the next session. */
  private refill(): void {
    if (this.idle.length === 0) this.idle.push(this.create());
  }

  /** Prepares idle isolates for a language that no session has used before. */
  private expect(language: Language): void {
    if (this.languages.has(language)) return;
    this.languages.add(language);
    for (const isolate of this.idle) isolate.warm(language);
  }

  private afterSession(): void {
    this.taken -= 1;
    if (this.taken > 0) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.endWhenIdle(), idleTime);
    this.timer.unref();
  }

  private endWhenIdle(): void {
    for (const isolate of this.idle.splice(0)) isolate.dispose();
    this.idle.push(this.create());
  }

  private create(): PooledIsolate {
    const isolate = new PooledIsolate(this.options);
    for (const language of this.languages) isolate.warm(language);
    return isolate;
  }
}
