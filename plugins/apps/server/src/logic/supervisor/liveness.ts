/** Milliseconds without a message from a runner after one to it: then it is asked whether it reads messages, and must answer. */
export const MAX_SILENCE = 300;
export const PING_TIMEOUT = 900;

export interface LivenessOptions {
  /** Asks the runner for a message. */
  ping(): void;
  /** The runner does not read messages. Called once. */
  dead(): void;
}

/** Watches whether a runner reads what it is sent, whatever its sessions do: they run in other threads. */
export interface Liveness {
  /** A message was sent. */
  sent(): void;
  /** Any message has arrived. */
  heard(): void;
  stop(): void;
}

export function createLiveness({ ping, dead }: LivenessOptions): Liveness {
  /** The time of the first message that was sent after the last one that has arrived. */
  let since: number | undefined;
  let isAsked = false;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  const wait = (time: number) => {
    // If this process was busy, an unread message may be waiting: it is read before the runner is judged.
    const own = setTimeout(() => setImmediate(() => timer === own && check()), time);
    timer = own;
  };
  function check(): void {
    timer = undefined;
    if (since === undefined || isStopped) return;
    const silence = performance.now() - since;
    if (isAsked) dead();
    else if (silence < MAX_SILENCE) wait(MAX_SILENCE - silence);
    else {
      isAsked = true;
      ping();
      wait(PING_TIMEOUT);
    }
  }

  return {
    sent() {
      since ??= performance.now();
      if (!timer && !isStopped) wait(MAX_SILENCE);
    },
    heard() {
      since = undefined;
      if (!isAsked) return;
      isAsked = false;
      clearTimeout(timer);
      timer = undefined;
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
