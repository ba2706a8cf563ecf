import type { PreparedContext } from './prepared-context';

/** Contexts that an isolate keeps; the least recently used goes first, but not within the time, so that programs do not displace each other in turn. */
const MAX_CONTEXTS = 8;
const KEPT_TIME = 10_000;

/** Sessions after which a context is given up: what a program keeps where only its author sees it is then gone. */
const MAX_SESSIONS = 1000;

interface Kept {
  prepared: PreparedContext;
  sessions: number;
  /** When its last session began. */
  used: number;
}

/** The contexts of an isolate that serve the sessions of a program one after the other. */
export class ReusedContexts {
  private readonly kept = new Map<string, Kept>();

  has(program: string): boolean {
    return this.kept.has(program);
  }

  /** The context of a program for one more session, the most recently used now. */
  take(program: string): PreparedContext | null {
    const found = this.kept.get(program);
    if (!found) return null;
    this.kept.delete(program);
    this.kept.set(program, { ...found, sessions: found.sessions + 1, used: performance.now() });
    return found.prepared;
  }

  /** Whether one more would displace none that is in use. */
  get hasRoom(): boolean {
    const [oldest] = this.kept.values();
    return this.kept.size < MAX_CONTEXTS || (oldest !== undefined && performance.now() - oldest.used > KEPT_TIME);
  }

  /** Adds a context whose first session begins. */
  add(program: string, prepared: PreparedContext): void {
    if (this.kept.size >= MAX_CONTEXTS) this.drop(this.kept.keys().next().value as string);
    this.kept.set(program, { prepared, sessions: 1, used: performance.now() });
  }

  /** A session is over: gives its context up after many, and others that were not used for a while, which only make the isolate slower. */
  ended(program: string): void {
    const now = performance.now();
    for (const [key, { used }] of this.kept) if (now - used > KEPT_TIME) this.drop(key);
    if ((this.kept.get(program)?.sessions ?? 0) >= MAX_SESSIONS) this.drop(program);
  }

  drop(program: string): void {
    const found = this.kept.get(program);
    this.kept.delete(program);
    found?.prepared.release();
  }

  /** Gives all up; false where there are none. */
  dropAll(): boolean {
    const programs = [...this.kept.keys()];
    for (const program of programs) this.drop(program);
    return programs.length > 0;
  }
}
