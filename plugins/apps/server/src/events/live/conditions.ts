import { AsyncLocalStorage } from 'node:async_hooks';
import { type ChangedRecord, type LiveCondition, testOf } from '../../apps';
import { recordWork, SLICE, untilLoopIsFree } from '../../common/time/pace';
import type { IndexDeclarations } from '../../indexes/types';
import type { AppKey } from '../../records/types';
import { type AppChanges, joined } from './changes';

/** Different conditions that one process compares; further ones count as any record of their app. */
export const MAX_CONDITIONS = 10_000;

/** Changed records of an app that wait for a comparison; more wake every condition of the app. */
const MAX_WAITING = 500;

/** Milliseconds of the event loop for one comparison of an app's changes; what is left then is woken without one. */
const MAX_TIME = 200;

/** A condition for which pages wait. */
export interface Watched {
  readonly token: string;
  readonly condition: LiveCondition;
  /** Tokens of which one changes with each change that may concern the condition. */
  readonly wider: readonly string[];
}

interface App {
  readonly key: AppKey;
  readonly watched: Map<string, Watched & { waiting: number }>;
  /** Changes that are to be compared; null: too many. */
  changes?: AppChanges | undefined;
  isComparing: boolean;
}

export interface ConditionsOptions {
  /** Gives the current indexes of an app; null where there is no such app. */
  declared(key: AppKey): Promise<IndexDeclarations | null>;
  /** Called with a condition whose result may have changed. */
  wake(watched: Watched): void;
  report(error: unknown): void;
}

/**
 * The conditions for which pages of this process wait. Changes are compared with them in slices of the event loop; those that come
 * meanwhile are compared together. Nothing is missed: what is too much to compare wakes.
 */
export class Conditions {
  /** By the token of any record of the app. */
  private readonly apps = new Map<string, App>();
  private size = 0;
  private readonly outside = AsyncLocalStorage.snapshot();
  private readonly tests = new WeakMap<
    Watched,
    { declared: object | null; test: (change: ChangedRecord) => boolean }
  >();

  constructor(private readonly options: ConditionsOptions) {}

  /**
   * Watches a condition until the returned function is called; null when there are too many.
   * @param app the token of any record of its app
   */
  add(app: string, watched: Watched): { watched: Watched; leave: () => void } | null {
    const { key } = watched.condition;
    const entry = this.apps.get(app) ?? { key, watched: new Map(), isComparing: false };
    let known = entry.watched.get(watched.token);
    if (!known && this.size >= MAX_CONDITIONS) return null;
    if (!known) {
      this.size += 1;
      known = { ...watched, waiting: 0 };
      entry.watched.set(watched.token, known);
      this.apps.set(app, entry);
    }
    const shared = known;
    shared.waiting += 1;
    return { watched: shared, leave: () => this.leave(app, entry, shared) };
  }

  private leave(app: string, entry: App, shared: Watched & { waiting: number }): void {
    shared.waiting -= 1;
    if (shared.waiting > 0 || !entry.watched.delete(shared.token)) return;
    this.size -= 1;
    if (entry.watched.size === 0) this.apps.delete(app);
  }

  /** Takes changes of apps. @param tokens what has changed besides; undefined `changes`: this alone is known */
  changed(tokens: ReadonlySet<string>, changes: ReadonlyMap<string, AppChanges> | undefined): void {
    for (const [app, said] of changes ?? unsaid([...this.apps.keys()].filter((app) => tokens.has(app)))) {
      const entry = this.apps.get(app);
      if (!entry) continue;
      if (said) this.wait(entry, said);
      else for (const one of entry.watched.values()) if (concerns(one, tokens)) this.options.wake(one);
    }
  }

  /**
   * Those of some conditions of one app whose result the changes may have changed.
   * @param maxTime milliseconds of the event loop; those that are left then count as changed
   */
  async touched(
    watched: readonly Watched[],
    records: readonly ChangedRecord[],
    maxTime = MAX_TIME,
  ): Promise<Watched[]> {
    const [first] = watched;
    if (!first) return [];
    const declared = await this.options.declared(first.condition.key).catch(() => null);
    const hits: Watched[] = [];
    let [begin, used] = [performance.now(), 0];
    for (const one of watched) {
      const isHit = used > maxTime || (await anyOf(records, this.testBy(one, declared), pause));
      if (isHit) hits.push(one);
    }
    return hits;

    function pause(): Promise<void> | undefined {
      const time = performance.now() - begin;
      if (time < SLICE) return undefined;
      used += time;
      recordWork(time);
      return untilLoopIsFree().then(() => {
        begin = performance.now();
      });
    }
  }

  private wait(entry: App, said: AppChanges): void {
    entry.changes = joined(entry.changes, said, MAX_WAITING);
    if (entry.isComparing) return;
    entry.isComparing = true;
    this.outside(() => this.compare(entry).catch(this.options.report));
  }

  private async compare(entry: App): Promise<void> {
    try {
      while (entry.changes !== undefined) {
        const { changes } = entry;
        entry.changes = undefined;
        const watched = [...entry.watched.values()];
        for (const one of changes ? await this.touched(watched, changes) : watched) this.options.wake(one);
      }
    } finally {
      entry.isComparing = false;
    }
  }

  /** The test of a condition with the app's current indexes. */
  private testBy(watched: Watched, declared: IndexDeclarations | null): (change: ChangedRecord) => boolean {
    const known = this.tests.get(watched);
    if (known?.declared === declared) return known.test;
    const test = testOf(watched.condition, declared);
    this.tests.set(watched, { declared, test });
    return test;
  }
}

async function anyOf(
  records: readonly ChangedRecord[],
  test: (change: ChangedRecord) => boolean,
  pause: () => Promise<void> | undefined,
): Promise<boolean> {
  for (const change of records) {
    if (test(change)) return true;
    const paused = pause();
    if (paused) await paused;
  }
  return false;
}

const unsaid = (apps: readonly string[]): [string, null][] => apps.map((app) => [app, null]);

/** Whether something has changed that may concern a condition. */
export const concerns = ({ wider }: Watched, tokens: ReadonlySet<string>): boolean =>
  wider.some((token) => tokens.has(token));
