/** Milliseconds within which a second changed context pauses its program. */
const BETWEEN_DROPS = 60_000;

/** Milliseconds for which a program has fresh contexts: after its first problem, and at most. Each further one doubles it. */
const FIRST_PAUSE = 60_000;
const LONGEST_PAUSE = 3_600_000;

/** Reused contexts that a runner makes at once, and in a second in the long run: each takes some milliseconds. */
const MADE = { atOnce: 100, perSecond: 10 };

/** Programs that are remembered after a problem. */
const MAX_PROGRAMS = 1000;

interface Suspension {
  /** When a session last left its context changed. */
  dropped: number;
  /** Until when it has fresh contexts, and for how long it has been paused last. */
  until: number;
  pause: number;
}

/**
 * Which programs have contexts that serve several sessions; one for all isolates of a runner. A program whose sessions change their context,
 * or fail in it, has fresh ones for a while, so that no author and no visitor makes each request pay for a new hardened context:
 * it then costs what it would without any reuse.
 */
export class ReusePolicy {
  private readonly suspensions = new Map<string, Suspension>();
  private allowed = MADE.atOnce;
  private counted: number;

  /** @param after sessions of a program in an isolate before it gets a reused context; null: none ever does */
  constructor(
    private readonly after: number | null,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.counted = now();
  }

  /** Whether a session of the program may have a reused context. */
  mayUse(program: string): boolean {
    return this.after !== null && (this.suspensions.get(program)?.until ?? Number.NEGATIVE_INFINITY) <= this.now();
  }

  /** Whether a reused context may be made for a program after so many sessions in its isolate. One that may is counted. */
  mayMake(program: string, sessions: number): boolean {
    if (this.after === null || sessions < this.after || !this.mayUse(program)) return false;
    const now = this.now();
    this.allowed = Math.min(MADE.atOnce, this.allowed + ((now - this.counted) / 1000) * MADE.perSecond);
    this.counted = now;
    if (this.allowed < 1) return false;
    this.allowed -= 1;
    return true;
  }

  /** A session of the program has left its context changed. */
  changed(program: string): void {
    const now = this.now();
    const suspension = this.suspensionOf(program);
    if (now - suspension.dropped < BETWEEN_DROPS) this.pause(program);
    suspension.dropped = now;
  }

  /** A session of the program may have failed because its context is a reused one. */
  pause(program: string): void {
    const now = this.now();
    const suspension = this.suspensionOf(program);
    const isRecent = now - suspension.until < LONGEST_PAUSE;
    suspension.pause = isRecent ? Math.min(LONGEST_PAUSE, suspension.pause * 2) : FIRST_PAUSE;
    suspension.until = now + suspension.pause;
  }

  private suspensionOf(program: string): Suspension {
    const never = Number.NEGATIVE_INFINITY;
    const suspension = this.suspensions.get(program) ?? { dropped: never, until: never, pause: FIRST_PAUSE };
    this.suspensions.delete(program);
    this.suspensions.set(program, suspension);
    if (this.suspensions.size > MAX_PROGRAMS) this.suspensions.delete(this.suspensions.keys().next().value as string);
    return suspension;
  }
}

/**
 * Releases of V8 on which nothing was found that one session of a reused context leaves to the next: the audit, the attacks and the tests
 * of logic have passed (`npm run test:node-releases`). On any other, each session has a context of its own: a new engine may bring
 * an object that all sessions share (docs/decisions/reused-contexts.md).
 */
const audited: readonly string[] = [
  '11.3.244.8-node.38', // Node.js 20.20.2
  '12.4.254.21-node.57', // Node.js 22.23.3
  '13.6.233.17-node.53', // Node.js 24.21.0
  '14.6.202.34-node.34', // Node.js 26.10.0
];

/** Whether contexts may be reused on this engine. */
export const isAudited = (v8 = process.versions.v8): boolean => audited.includes(v8);
