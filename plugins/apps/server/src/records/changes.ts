import { AsyncLocalStorage } from 'node:async_hooks';
import type { Awaitable } from '../common/time/awaitable';
import type { AppKey, Items, RecordStore, UnitObserver, UnitOfWork } from './types';

/**
 * Through what a record is changed (docs/reference/history.md#through-what): a form of a page, the JSON interface, the admin panel, a
 * rule on events, a job or schedule, an import, logic of an app or code of the host, a link to one's own answer.
 */
export const throughs = ['form', 'json', 'panel', 'rule', 'job', 'import', 'logic', 'self_service'] as const;

export type Through = (typeof throughs)[number];

/** Who changes records, and through what. */
export interface Provenance {
  /** `Requester.identity`: '' for anonymous. Asked where something changes: a rendering that only reads stays one for all requesters. */
  requester(): string;
  through: Through;
  /** Whether what it takes away is to be forgotten: neither the history nor a webhook gets the items from before. */
  readonly forgets?: boolean;
}

const current = new AsyncLocalStorage<Provenance>();

/** Runs `work`, whose changes of records are those of a requester. It is said once, where a request or a call begins. */
export const changedBy = <T>(by: Provenance, work: () => T): T => current.run(by, work);

/** Who changes records here; undefined in the host's own code. */
export const provenance = (): Provenance | undefined => current.getStore();

/**
 * Runs a call of logic, which comes from another process and not from the code that waits for it. What logic changes in the course of a
 * form or a request is changed through `logic`; where a rule or a job has called it, that says more.
 */
export function changedByLogic<T>(by: Provenance, work: () => T): T {
  const isCall = by.through === 'rule' || by.through === 'job';
  return current.run({ requester: by.requester, through: isCall ? by.through : 'logic' }, work);
}

/** A record that a unit of work has changed: before it and at its end; null where there is none. */
export interface ChangedItems {
  key: AppKey;
  id: string;
  creator: string | null;
  before: Items | null;
  after: Items | null;
  /** Who has changed it, and through what, when it was first changed; undefined for the host's own code. */
  by: Provenance | undefined;
}

/** What a unit of work has changed: each record before it, and at its end. */
export class RecordChanges {
  private readonly entries = new Map<string, ChangedItems>();

  readonly observer: UnitObserver = {
    onItems: (key, before, after, { id, creator }) => {
      const known = this.entries.get(nameOf(key, id));
      const first = known ?? { before, by: provenance() };
      this.entries.set(nameOf(key, id), { key, id, creator, before: first.before, after, by: first.by });
    },
    onRename: (key, from, to) => {
      const source = this.entries.get(nameOf(key, from));
      if (!source || from === to) return;
      const before = this.entries.get(nameOf(key, to))?.before ?? null;
      this.entries.set(nameOf(key, to), { ...source, id: to, before });
      this.entries.set(nameOf(key, from), { ...source, after: null });
    },
  };

  /** In the order in which the records were first changed, without those that were created and deleted again. */
  list(): ChangedItems[] {
    if (this.entries.size === 0) return [];
    return [...this.entries.values()].filter(({ before, after }) => before !== null || after !== null);
  }
}

const nameOf = ({ site, app }: AppKey, id: string): string => JSON.stringify([site, app, id]);

/** What is done after a commit. */
type AfterCommit = () => Awaitable<void>;

/** A part of the server that does something with each change of records, whatever way it comes. */
export interface ChangeWatcher {
  /**
   * Called at the end of a transaction's work, with one change or more: what it adds to the unit is committed with it.
   * @returns what is done after the commit; undefined for nothing
   */
  changed(unit: UnitOfWork, changes: readonly ChangedItems[]): Awaitable<AfterCommit | undefined>;
  /** The same for changes of many records at once: wraps these functions of a store. */
  bulk(store: RecordStore): Partial<Omit<RecordStore, 'transact'>>;
}

/** A store whose changes the watchers get, in their order. The changes of a transaction are noted once for all of them. */
export function watchChanges(store: RecordStore, watchers: readonly ChangeWatcher[]): RecordStore {
  let watched = store;
  for (const { bulk } of watchers) watched = { ...watched, ...bulk(watched) };
  return {
    ...watched,
    async transact(work, about) {
      let effects: AfterCommit[] = [];
      const result = await store.transact(async (unit) => {
        const changes = new RecordChanges();
        unit.observe(changes.observer);
        const value = await work(unit);
        // A retry after a collision: the first attempt was rolled back.
        effects = [];
        const changed = changes.list();
        if (changed.length === 0) return value;
        for (const watcher of watchers) {
          const effect = watcher.changed(unit, changed);
          const known = effect instanceof Promise ? await effect : effect;
          if (known) effects.push(known);
        }
        return value;
      }, about);
      for (const effect of effects) {
        const done = effect();
        if (done) await done;
      }
      return result;
    },
  };
}
