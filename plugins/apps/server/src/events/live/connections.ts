import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { conditionOf, type LiveCondition, type Topic, topics } from '../../apps';
import { grouped } from '../../common/collections';
import { MESSAGE_LIFETIME } from '../../processes';
import type { AppKey } from '../../records/types';
import { type AppChanges, joined, type Publication } from './changes';
import { type Conditions, concerns, type Watched } from './conditions';

/** Characters of the token of a topic that is no condition, and the most that one of a condition has. */
const SHORT_TOKEN = 20;
const MAX_TOKEN = 2_000;

/** Tokens of topics that are remembered: each change of an app is published to the same few. */
const MAX_KNOWN = 1_000;

const IV = 12;
const TAG = 16;

/** Makes and reads the names by which browsers subscribe to topics. */
interface TopicTokens {
  /** The same token for the same topic, in every process with the same secret. */
  of(topic: Topic): string;
  /** The condition that a token carries; null for every other text, also for one of another secret. */
  condition(token: string): LiveCondition | null;
}

/**
 * A condition is in its token, encrypted and authenticated: each process can evaluate it, and no client can read or make one. The
 * nonce is a keyed digest of the condition, so that equal conditions have equal tokens, and no nonce comes with two texts.
 */
export function createTokens(secret: string): TopicTokens {
  const keys = Buffer.from(hkdfSync('sha256', secret, '', 'apps-live-conditions-1', 64));
  const [sealing, naming] = [keys.subarray(0, 32), keys.subarray(32)];

  const seal = (text: string): string => {
    const iv = createHmac('sha256', naming).update(text).digest().subarray(0, IV);
    const cipher = createCipheriv('aes-256-gcm', sealing, iv);
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url');
  };

  const open = (token: string): string | null => {
    const bytes = Buffer.from(token, 'base64url');
    if (token.length > MAX_TOKEN || bytes.length <= IV + TAG) return null;
    try {
      const cipher = createDecipheriv('aes-256-gcm', sealing, bytes.subarray(0, IV), { authTagLength: TAG });
      cipher.setAuthTag(bytes.subarray(IV, IV + TAG));
      return Buffer.concat([cipher.update(bytes.subarray(IV + TAG)), cipher.final()]).toString('utf8');
    } catch {
      return null;
    }
  };

  const known = new LRUCache<Topic, string>({ max: MAX_KNOWN });

  return {
    of(topic) {
      if (conditionOf(topic)) return seal(topic);
      const before = known.get(topic);
      if (before !== undefined) return before;
      const digest = createHmac('sha256', `apps-live:${secret}`).update(topic).digest('base64url');
      const token = digest.slice(0, SHORT_TOKEN);
      known.set(topic, token);
      return token;
    },
    condition(token) {
      const text = open(token);
      return text === null ? null : conditionOf(text);
    },
  };
}

/** Changed records that are compared with the conditions of one new connection, and milliseconds for it; more wakes it. */
const MAX_MISSED = 200;
const MAX_TIME = 20;

/** An open connection of a browser. */
export interface LiveConnection {
  send(token: string): void;
  end(): void;
}

/** What a connection waits for: `token` is sent when one of another name has changed. */
interface Waiter {
  connection: LiveConnection;
  token: string;
}

/** The tokens of one connection. */
interface Subscription {
  connection: LiveConnection;
  /** What it waits for by the tokens of topics, and by conditions. */
  waiters: readonly { topic: string; waiter: Waiter }[];
  watched: readonly Watched[];
  leave(): void;
}

/** What the connections of this process wait for. */
export class Connections {
  private readonly waiting = new Map<string, Set<Waiter>>();

  constructor(
    private readonly tokens: TopicTokens,
    private readonly conditions: Conditions,
  ) {}

  /** Sends a token that has changed to those that wait for it. */
  send(topic: string): void {
    for (const { connection, token } of this.waiting.get(topic) ?? []) connection.send(token);
  }

  add(connection: LiveConnection, asked: readonly string[]): Subscription {
    const waiters: Subscription['waiters'][number][] = [];
    const watched: Watched[] = [];
    const leaves: (() => void)[] = [];
    for (const token of new Set(asked)) {
      const found = this.watch(token);
      for (const topic of found.topics) waiters.push({ topic, waiter: { connection, token } });
      if (found.watched) watched.push(found.watched);
      if (found.leave) leaves.push(found.leave);
    }
    for (const { topic, waiter } of waiters) {
      const set = this.waiting.get(topic) ?? new Set();
      this.waiting.set(topic, set.add(waiter));
      leaves.push(() => {
        set.delete(waiter);
        if (set.size === 0 && this.waiting.get(topic) === set) this.waiting.delete(topic);
      });
    }
    const leave = () => {
      for (const end of leaves) end();
    };
    return { connection, waiters, watched, leave };
  }

  /**
   * Sends a new connection what was changed between the rendering of its page and now.
   * @param missed null: that is not known
   */
  async catchUp({ connection, waiters, watched }: Subscription, missed: readonly Publication[] | null): Promise<void> {
    const changed = new Set(missed?.flatMap(({ tokens }) => tokens));
    const due = new Set(waiters.filter(({ topic }) => !missed || changed.has(topic)).map(({ waiter }) => waiter.token));
    for (const [app, some] of grouped(watched, ({ condition }) => this.any(condition.key))) {
      const changes = missed && changesOf(app, missed);
      const hits = !missed
        ? some
        : changes
          ? await this.conditions.touched(some, changes, MAX_TIME)
          : some.filter((one) => concerns(one, changed));
      for (const { token } of hits) due.add(token);
    }
    for (const token of due) connection.send(token);
  }

  /** The condition that a token carries; where that is too much, topics of which one changes with each change that may concern it. */
  private watch(token: string): { topics: string[]; watched?: Watched; leave?: () => void } {
    const condition = this.tokens.condition(token);
    if (!condition) return { topics: [token] };
    const { key, creator } = condition;
    const wider =
      creator === undefined
        ? [this.any(key)]
        : [topics.own(key, creator), topics.creators(key)].map((topic) => this.tokens.of(topic));
    const added = this.conditions.add(this.any(key), { token, condition, wider });
    return added ? { topics: [token], ...added } : { topics: wider };
  }

  private any(key: AppKey): string {
    return this.tokens.of(topics.any(key));
  }
}

/** The changed records of an app in publications; null where more was changed than they name. */
function changesOf(app: string, publications: readonly Publication[]): AppChanges {
  let all: AppChanges = [];
  for (const { apps } of publications) {
    if (!apps) return null;
    const changes = apps.get(app);
    if (changes !== undefined) all = joined(all, changes, MAX_MISSED);
  }
  return all;
}

/** Records of the publications that are kept, and publications. */
const MAX_RECORDS = 2_000;
const MAX_PUBLICATIONS = 5_000;

/**
 * Milliseconds by which a change of another process may be published before a moment and become known after it: their clocks
 * differ, and rows are read once a second.
 */
const MARGIN = 2_500;

const POSITION = /^([\w-]{8})\.(\d{1,15})$/;

/** A moment of the process `origin`, as a text. */
export const positionText = (origin: string, at: number): string => `${origin}.${at}`;

/** The publications of the last minute, for pages that were rendered before they have connected. */
export class Recent {
  private list: Publication[] = [];
  private records = 0;
  /** Before when publications were dropped. */
  private dropped = 0;
  /** Since when those of other processes are here. */
  private foreign = Number.POSITIVE_INFINITY;

  add(publication: Publication): void {
    this.list.push(publication);
    this.records += sizeOf(publication);
    this.trim();
  }

  /** Says since when the publications of other processes are here; Infinity: some may be missing from now on. */
  foreignSince(at: number): void {
    this.foreign = at;
  }

  /** What a page may have missed that was rendered at a position; null when that is not known. */
  since(position: string): Publication[] | null {
    const [, origin, digits] = POSITION.exec(position) ?? [];
    const at = Number(digits);
    if (origin === undefined || at - MARGIN < Math.max(this.dropped, this.foreign)) return null;
    return this.list.filter((one) => one.at >= at - (one.origin === origin ? 0 : MARGIN));
  }

  private trim(): void {
    const { length } = this.list;
    let first = 0;
    const now = Date.now();
    const until = now - MESSAGE_LIFETIME;
    for (; first < length; first += 1) {
      const one = this.list[first] as Publication;
      const isFull = this.records > MAX_RECORDS || length - first > MAX_PUBLICATIONS;
      if (!isFull && one.at >= until) break;
      this.records -= sizeOf(one);
      this.dropped = Math.max(this.dropped, Math.min(one.at, now) + MARGIN);
    }
    if (first > 0) this.list.splice(0, first);
  }
}

function sizeOf({ apps }: Publication): number {
  let size = 1;
  if (apps) for (const changes of apps.values()) size += changes?.length ?? 0;
  return size;
}
