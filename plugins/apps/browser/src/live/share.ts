import { earliest, isAfter, openStream, type Position, type Stream } from './stream';

/** What a block waits for. */
interface Need {
  live: string[];
  /** Fewer and shorter tokens, of which one changes with each of them. */
  any?: string[] | undefined;
  /** Up to when its changes are known. */
  since?: Position | undefined;
  /** When it was fetched by this script, by `Date.now()`, which all tabs have in common. */
  asked?: number | undefined;
}

/** The blocks of a tab. */
interface Tab {
  /** Names the list: the tab counts. */
  version: number;
  needs: Need[];
}

/** Characters of the tokens of one connection, which are a part of its address, and their number. */
const MAX_LENGTH = 6_000;
const MAX_TOKENS = 300;

interface LeaderOptions {
  /** The address for connections. */
  url: URL;
  /** @param only the one tab for which this is news */
  changed(token: string, only?: string): void;
  /** All changes for these lists of tabs have come up to a position. */
  known(at: Position, versions: Record<string, number>): void;
}

/** The one tab that has the connection for all tabs of the browser. */
interface Leader {
  /** Takes what a tab waits for, from now on. */
  set(id: string, tab: Tab): void;
  remove(id: string): void;
  /** The tabs that have said nothing since the last call are gone. */
  forgetSilent(): void;
  close(): void;
}

function createLeader({ url, changed, known }: LeaderOptions): Leader {
  const tabs = new Map<string, Tab & { heard: boolean }>();
  /** The latest change of each token of the connection: its position, and when it came. */
  const seen = new Map<string, { position: Position; at: number }>();
  let stream: Stream | undefined;
  let next: Stream | undefined;
  let timer: number | undefined;
  /** What the connection was opened for. */
  let covered: Record<string, number> = {};

  const report = (): void => {
    const at = stream?.known();
    if (!at) return;
    for (const [id, version] of Object.entries(covered))
      if (tabs.get(id)?.version === version) for (const need of tabs.get(id)?.needs ?? []) need.since = at;
    known(at, covered);
  };

  /** Whether the connection has waited for a block's tokens since before its rendering. */
  const isCovered = ({ live, any, since, asked = 0 }: Need): boolean => {
    const has = (list: readonly string[] | undefined) => list?.every((token) => stream?.tokens.has(token));
    if (!stream?.opened || !(has(live) || has(any))) return false;
    const { position, at } = stream.opened;
    return asked >= at || (since !== undefined && isAfter(since, position));
  };

  /** Changes that came after a block's rendering, and before its tab has said what it waits for. */
  const tellSeen = (id: string, { live, any = [], since, asked = 0 }: Need): void => {
    for (const token of [...live, ...any]) {
      const last = seen.get(token);
      if (last && asked < last.at && !(since && isAfter(since, last.position))) changed(token, id);
    }
  };

  const connect = (): void => {
    report();
    const needs = [...tabs.values()].flatMap((tab) => tab.needs);
    next?.close();
    if (needs.length === 0) return close();
    const versions = Object.fromEntries([...tabs].map(([id, { version }]) => [id, version]));
    const positions = needs.flatMap(({ since }) => (since ? [since] : []));
    const opening = openStream(new URL(url), tokensOf(needs), earliest(positions), {
      opened() {
        // The one before is open until now, so that nothing is missed in between.
        if (stream !== opening) stream?.close();
        [stream, next, covered] = [opening, undefined, versions];
        report();
      },
      alive: report,
      changed(token, position) {
        if (opening.tokens.has(token)) seen.set(token, { position, at: Date.now() });
        changed(token);
      },
    });
    next = opening;
  };

  const close = (): void => {
    clearTimeout(timer);
    stream?.close();
    next?.close();
    [stream, next] = [undefined, undefined];
    seen.clear();
  };

  return {
    set(id, tab) {
      const isKnown = tabs.get(id)?.version === tab.version;
      tabs.set(id, { ...tab, heard: true });
      if (isKnown) return;
      for (const need of tab.needs) tellSeen(id, need);
      if (tab.needs.every(isCovered)) {
        covered[id] = tab.version;
        return;
      }
      clearTimeout(timer);
      timer = window.setTimeout(connect, 50);
    },
    remove(id) {
      tabs.delete(id);
    },
    forgetSilent() {
      for (const [id, tab] of tabs) {
        if (!tab.heard) tabs.delete(id);
        tab.heard = false;
      }
    },
    close() {
      report();
      close();
    },
  };
}

/** The tokens of all blocks; of those with the longest lists the short ones, where they are too many for one connection. */
function tokensOf(needs: readonly Need[]): string[] {
  const lengthOf = ({ live }: Need) => live.join().length;
  const longest = [...needs].sort((one, other) => lengthOf(other) - lengthOf(one));
  for (let short = 0; ; short += 1) {
    const lists = longest.map(({ live, any }, at) => (at < short && any ? any : live));
    const tokens = [...new Set(lists.flat())];
    const isRight = tokens.length <= MAX_TOKENS && tokens.join().length <= MAX_LENGTH;
    if (isRight || short >= longest.length) return tokens.slice(0, MAX_TOKENS);
  }
}

/** Milliseconds between two questions of the leader who is there. */
const ROUND = 60_000;

/** What tabs say to each other. */
type Message =
  | { kind: 'who' }
  | { kind: 'need'; id: string; tab: Tab }
  | { kind: 'bye'; id: string }
  | { kind: 'change'; token: string; only?: string | undefined }
  | { kind: 'known'; at: Position; versions: Record<string, number> };

interface ShareOptions {
  /** The address for connections: tabs with the same one share a connection. */
  url: URL;
  changed(token: string): void;
  /** All changes of the list with this version have come up to a position. */
  known(at: Position, version: number): void;
}

/** The connection that the tabs of a browser have in common. */
interface Share {
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
