import { AsyncLocalStorage } from 'node:async_hooks';
import type { Json } from '../../../../shared/json';
import { type ChangedRecord, digestOfIndexes, type RecordState, type Topic, topics } from '../../apps';
import { settledOrTimeout } from '../../common/time/coalesce';
import { STATE } from '../../indexes';
import type { IndexDeclarations } from '../../indexes/types';
import type { Messages, ProcessMessage } from '../../processes/types';
import type { ChangedItems, ChangeWatcher } from '../../records';
import type { AppKey, Items, NewRecord, NewRecords } from '../../records/types';

/** Records of one transaction, and creators of a bulk change, that are published one by one; more are published together. */
const MAX_SINGLY = 100;

/** What a transaction has changed. */
export interface Changed {
  topics: Topic[];
  /** Records before and after; null: more than are published one by one. */
  apps: { key: AppKey; records: ChangedRecord[] | null }[];
}

/** Publishes the changes of records after each commit. */
export function publishChanges(publish: (changed: Changed) => void): ChangeWatcher {
  const all = (key: AppKey): Topic[] => [topics.any(key), topics.bulk(key), topics.creators(key)];
  return {
    changed: (_unit, changes) => () => publish(changedBy(changes)),

    bulk: (store) => ({
      async createMany(key, records, options) {
        const seen = new Created();
        const total = await store.createMany(key, watched(records, seen), options);
        const { creators, created } = seen;
        const owners =
          creators.size > MAX_SINGLY ? [topics.creators(key)] : [...creators].map((one) => topics.own(key, one));
        const isKnown = created.length === total;
        publish({
          topics: [topics.any(key), topics.bulk(key), ...owners],
          apps: [{ key, records: isKnown ? created.map((after) => ({ before: null, after })) : null }],
        });
        return total;
      },
      async forgetDeleted(records) {
        await store.forgetDeleted(records);
        const keys = new Map(records.map(({ key }) => [topics.any(key), key]));
        const apps = [...keys.values()].map((key) => ({ key, records: null }));
        publish({ topics: [...keys.values()].flatMap(all), apps });
      },
      async clear(key, atCommit) {
        await store.clear(key, atCommit);
        publish({ topics: all(key), apps: [{ key, records: null }] });
      },
    }),
  };
}

/** What a transaction has changed, for those that wait for it. */
function changedBy(changes: readonly ChangedItems[]): Changed {
  const isBulk = changes.length > MAX_SINGLY;
  const owners = new Set<Topic>();
  const single = new Set<Topic>();
  const apps = new Map<Topic, { key: AppKey; records: ChangedRecord[] | null }>();
  for (const { key, id, creator, before, after } of changes) {
    const any = topics.any(key);
    const app = apps.get(any) ?? { key, records: isBulk ? null : [] };
    apps.set(any, app);
    if (creator) owners.add(topics.own(key, creator));
    single.add(isBulk ? topics.bulk(key) : topics.record(key, id));
    const state = (items: Items | null) => items && { id, creator, items };
    app.records?.push({ before: state(before), after: state(after) });
  }
  return { topics: [...apps.keys(), ...single, ...owners], apps: [...apps.values()] };
}

/** What a bulk creation has made, up to one more than is published one by one. */
class Created {
  readonly creators = new Set<string>();
  created: RecordState[] = [];

  note({ id = '', items, creator, whenTaken }: NewRecord): void {
    if (creator && this.creators.size <= MAX_SINGLY) this.creators.add(creator);
    if (this.created.length > MAX_SINGLY) return;
    const isGiven = id !== '' && whenTaken !== 'number';
    this.created.push({ id, creator, items, ...(!isGiven && { cut: ['id'] }) });
  }
}

/** The same records, which are noted in `seen`. */
function watched(records: NewRecords, seen: Created): NewRecords {
  if ('read' in records) {
    return {
      async *read() {
        // They are read more than once, and the first time perhaps not to the end.
        seen.created = [];
        for await (const batch of records.read()) {
          for (const record of batch) seen.note(record);
          yield batch;
        }
      },
    };
  }
  return (async function* () {
    for await (const record of records) {
      seen.note(record);
      yield record;
    }
  })();
}

/** Changed records of an app; null: more than are named. */
export type AppChanges = readonly ChangedRecord[] | null;

/** Changes that were committed together, as they are sent to the pages that wait. */
export interface Publication {
  /** When they were published, by the clock of the process `origin`. */
  at: number;
  origin: string;
  /** Tokens of the topics that have changed. */
  tokens: readonly string[];
  /** By the token of `any` record of the app. Undefined: by another version of the plugin. */
  apps: ReadonlyMap<string, AppChanges> | undefined;
}

/** Joins changes of one app; null where they are more than `max`. */
export function joined(one: AppChanges | undefined, other: AppChanges, max: number): AppChanges {
  if (one === null || other === null) return null;
  const all = one ? [...one, ...other] : other;
  return all.length > max ? null : all;
}

/** Characters of one item, of one changed record, and of all of one app that other processes get. */
export const MAX_ITEM = 1_500;
export const MAX_RECORD = 4_000;
const MAX_APP = 200_000;

/**
 * What conditions can look at in changed records: items with an index, and the block. Larger items are named without their
 * values; null where the rest is too large, or the app is unknown.
 */
function projected(records: AppChanges, declared: IndexDeclarations | null): AppChanges {
  if (!declared || !records) return null;
  const indexes = digestOfIndexes(declared);
  const names = [...declared.keys()].filter((name) => name !== 'id' && name !== 'block');
  const state = (from: RecordState | null) => from && projectedState(from, [...names, 'block', STATE]);
  const kept: ChangedRecord[] = [];
  let total = 0;
  for (const { before, after } of records) {
    const change = { before: state(before), after: state(after), indexes };
    const { length } = JSON.stringify(change);
    total += length;
    if (length > MAX_RECORD || total > MAX_APP) return null;
    kept.push(change);
  }
  return kept;
}

function projectedState({ id, creator, items, cut = [] }: RecordState, names: readonly string[]): RecordState {
  const kept: Items = {};
  const left = [...cut];
  for (const name of names) {
    if (!Object.hasOwn(items, name)) continue;
    const value = items[name] as Json;
    if (isSmall(value)) kept[name] = value;
    else left.push(name);
  }
  return { id, creator, items: kept, ...(left.length > 0 && { cut: left }) };
}

/** Without the text itself, which may be megabytes. */
const isSmall = (value: Json): boolean => sizeOf(value, MAX_ITEM) <= MAX_ITEM;

function sizeOf(value: Json, max: number): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 5;
  let size = 2;
  for (const name in value) {
    const part = (value as Record<string, Json>)[name] as Json;
    size += name.length + sizeOf(part, max - size);
    if (size > max) break;
  }
  return size;
}

/** Milliseconds: how long changes are gathered before they are written, and until another attempt. */
const GATHER = 100;
const RETRY = 1_000;

/** Tokens of one message; more are split over several. */
const MAX_TOKENS = 500;

/** Changed records of one app that are gathered; more count as any record of the app. */
export const MAX_RECORDS = 200;

type Apps = Record<string, AppChanges>;

/** Publishes changes to every server process on the same database. */
interface ChangeLog {
  /**
   * Publishes to the other processes; it is written soon, outside of any open transaction.
   * @param keys the apps by the tokens of their changes
   */
  write(publication: Publication, keys: ReadonlyMap<string, AppKey>): void;
  /** Writes what waits, and ends. */
  destroy(): Promise<void>;
}

interface ChangeLogOptions {
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
