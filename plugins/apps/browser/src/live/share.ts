import { createLeader, type Leader, type Need, type Tab } from './leader';
import type { Position } from './stream';

/** Milliseconds between two questions of the leader who is there. */
const ROUND = 60_000;

/** What tabs say to each other. */
type Message =
  | { kind: 'who' }
  | { kind: 'need'; id: string; tab: Tab }
  | { kind: 'bye'; id: string }
  | { kind: 'change'; token: string; only?: string | undefined }
  | { kind: 'known'; at: Position; versions: Record<string, number> };

export interface ShareOptions {
  /** The address for connections: tabs with the same one share a connection. */
  url: URL;
  changed(token: string): void;
  /** All changes of the list with this version have come up to a position. */
  known(at: Position, version: number): void;
}

/** The connection that the tabs of a browser have in common. */
export interface Share {
  /** Says what this tab waits for; without a need, it waits no longer. @param version names the list, and grows */
  set(version: number, needs: Need[]): void;
}

/**
 * One tab holds the connection, and tells the others what has changed: over HTTP/1.1 a browser opens six connections to a site, for all
 * of its tabs. The one that has a lock is the leader; a browser gives it to the next when that tab is closed or waits no longer. Without
 * locks or channels between tabs, each tab has its own connection.
 */
export function createShare({ url, changed, known }: ShareOptions): Share {
  const id = Math.random().toString(36).slice(2);
  const name = `apps.live ${url.href}`;
  const channel = openChannel(name);
  const tab: Tab = { version: 0, needs: [] };
  let leader: Leader | undefined;
  let waiting: AbortController | undefined;
  let leave = (): void => {};

  const say = (message: Message): void => channel?.postMessage(message);
  const report = (): void => {
    if (leader) leader.set(id, { ...tab });
    else say({ kind: 'need', id, tab });
  };

  const lead = (): void => {
    leader = createLeader({
      url,
      changed(token, only) {
        if (only === undefined || only === id) changed(token);
        if (only !== id) say({ kind: 'change', token, only });
      },
      known(at, versions) {
        if (versions[id] !== undefined) known(at, versions[id]);
        say({ kind: 'known', at, versions });
      },
    });
    report();
    say({ kind: 'who' });
    const asking = window.setInterval(() => {
      leader?.forgetSilent();
      report();
      say({ kind: 'who' });
    }, ROUND);
    leave = () => {
      clearInterval(asking);
      leader?.close();
      leader = undefined;
    };
  };

  const join = (): void => {
    if (leader || waiting) return;
    if (!channel) return lead();
    waiting = new AbortController();
    const { signal } = waiting;
    // A promise that ends when this tab waits no longer: until then, it has the lock.
    const hold = () =>
      new Promise<void>((resolve) => {
        waiting = undefined;
        lead();
        const stop = leave;
        leave = () => {
          stop();
          resolve();
        };
      });
    navigator.locks.request(name, { signal }, hold).catch(({ name: reason }: Error) => {
      // The page may not use locks.
      if (reason !== 'AbortError') lead();
    });
  };

  if (channel)
    channel.onmessage = ({ data }: MessageEvent<Message>) => {
      if (data.kind === 'who' && tab.needs.length > 0) report();
      if (data.kind === 'need') leader?.set(data.id, data.tab);
      if (data.kind === 'bye') leader?.remove(data.id);
      if (data.kind === 'change' && (data.only ?? id) === id) changed(data.token);
      if (data.kind === 'known' && data.versions[id] !== undefined) known(data.at, data.versions[id]);
    };

  return {
    set(version, needs) {
      Object.assign(tab, { version, needs });
      if (needs.length > 0) {
        join();
        return report();
      }
      waiting?.abort();
      waiting = undefined;
      leave();
      leave = () => {};
      say({ kind: 'bye', id });
    },
  };
}

/** Undefined where the browser has no locks or channels, or the page may not use them. */
function openChannel(name: string): BroadcastChannel | undefined {
  try {
    return 'locks' in navigator ? new BroadcastChannel(name) : undefined;
  } catch {
    return undefined;
  }
}
