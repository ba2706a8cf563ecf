import { AsyncLocalStorage } from 'node:async_hooks';
import type { ChangedRecord } from '../../apps';
import { settledOrTimeout } from '../../common/time/coalesce';
import type { IndexDeclarations } from '../../indexes/types';
import type { Messages, ProcessMessage } from '../../processes/types';
import type { AppKey } from '../../records/types';
import { type AppChanges, type Publication, projected } from './publish-changes';

/** Milliseconds: how long changes are gathered before they are written, and until another attempt. */
const GATHER = 100;
const RETRY = 1_000;

/** Tokens of one message; more are split over several. */
const MAX_TOKENS = 500;

/** Changed records of one app that are gathered; more count as any record of the app. */
export const MAX_RECORDS = 200;

type Apps = Record<string, AppChanges>;

/** Publishes changes to every server process on the same database. */
export interface ChangeLog {
  /**
   * Publishes to the other processes; it is written soon, outside of any open transaction.
   * @param keys the apps by the tokens of their changes
   */
  write(publication: Publication, keys: ReadonlyMap<string, AppKey>): void;
  /** Writes what waits, and ends. */
  destroy(): Promise<void>;
}

export interface ChangeLogOptions {
  messages: Pick<Messages, 'write'>;
  report(error: unknown): void;
  /** Gives the current indexes of an app; null where there is no such app. */
  declared(key: AppKey): Promise<IndexDeclarations | null>;
}

interface Gathered {
  at: number;
  tokens: Set<string>;
  apps: Map<string, { key: AppKey; changes: ChangedRecord[] | null }>;
}

const nothing = (): Gathered => ({ at: 0, tokens: new Set(), apps: new Map() });

export function createChangeLog({ messages, report, declared }: ChangeLogOptions): ChangeLog {
  const outside = AsyncLocalStorage.snapshot();
  let gathered = nothing();
  let writing: NodeJS.Timeout | undefined;
  let isDestroyed = false;

  /** What could not be written is written later; then without records, so that what waits stays small. */
  async function flush(): Promise<void> {
    writing = undefined;
    const writes = gathered;
    gathered = nothing();
    try {
      await write(writes);
    } catch (error) {
      report(error);
      for (const token of writes.tokens) gathered.tokens.add(token);
      for (const [token, { key }] of writes.apps) gathered.apps.set(token, { key, changes: null });
      gathered.at = Math.max(gathered.at, writes.at);
      if (!isDestroyed) writing ??= setTimeout(flush, RETRY).unref();
    }
  }

  async function write({ at, tokens, apps: changed }: Gathered): Promise<void> {
    const apps: Apps = {};
    for (const [token, { key, changes }] of changed)
      apps[token] = projected(changes, await declared(key).catch(() => null));
    const unsaid: Apps = Object.fromEntries(Object.entries(apps).filter(([, changes]) => !changes));
    const all = [...tokens];
    for (let start = 0; start < Math.max(1, all.length); start += MAX_TOKENS) {
      const some = all.slice(start, start + MAX_TOKENS);
      await messages.write({ at, tokens: some, said: { apps: start === 0 ? apps : unsaid } });
    }
  }

  return {
    write({ at, tokens, apps }, keys) {
      gathered.at = at;
      for (const token of tokens) gathered.tokens.add(token);
      for (const [token, changes] of apps ?? []) {
        const known = gathered.apps.get(token) ?? { key: keys.get(token) as AppKey, changes: [] };
        if (!changes || !known.changes || known.changes.length + changes.length > MAX_RECORDS) known.changes = null;
        else known.changes.push(...changes);
        gathered.apps.set(token, known);
      }
      writing ??= outside(() => setTimeout(flush, GATHER).unref());
    },
    async destroy() {
      isDestroyed = true;
      const isWaiting = writing !== undefined;
      clearTimeout(writing);
      // Without a database it would wait for long.
      if (isWaiting) await settledOrTimeout(flush());
    },
  };
}

/** What a message says about changes of records. */
export function publicationOf({ at, origin, tokens, said }: ProcessMessage): Publication {
  return { at, origin, tokens, apps: said ? new Map(Object.entries(said.apps as Apps)) : undefined };
}
