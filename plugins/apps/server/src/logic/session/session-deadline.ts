/**
 * Milliseconds after the deadline: for the stack of late logic to arrive, after which the request is answered without it and a
 * forgotten session is closed; and after which a runner that has still not ended the session is stuck, and is killed.
 */
const STACK_GRACE = 120;
const KILL_GRACE = 180;

export interface SessionDeadlineEvents {
  /** Milliseconds until the deadline, which may have moved since the last call. */
  remaining(): number;
  /** The runner has not reported the end of the session's time. Returns whether the runner still has to end the session. */
  overdue(): boolean;
  /** The runner has not ended the overdue session either. */
  stuck(): void;
}

/** Watches the deadline of a session from its beginning, until it is stopped. */
export class SessionDeadline {
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;

  constructor(private readonly events: SessionDeadlineEvents) {
    this.wait();
  }

  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
  }

  private wait(): void {
    this.timer = setTimeout(() => {
      // The deadline may have moved.
      if (this.events.remaining() > 0) this.wait();
      else this.afterMessages(() => this.overdue());
    }, Math.max(0, this.events.remaining()) + STACK_GRACE);
  }

  private overdue(): void {
    if (!this.events.overdue()) return;
    this.timer = setTimeout(() => this.afterMessages(() => this.events.stuck()), KILL_GRACE - STACK_GRACE);
  }

  /** If this process was busy, an unread answer may be waiting: it is read first. */
  private afterMessages(work: () => void): void {
    setImmediate(() => {
      if (!this.isStopped) work();
    });
  }
}
