import type { Items } from '../../../../shared/json';
import type { ReadEnd } from '../../database';
import type { IndexDeclarations, SearchOptions } from '../../indexes/types';
import type {
  AppKey,
  Claim,
  CommitRows,
  CommitWrite,
  ContentRow,
  NewRecord,
  PageOptions,
  Place,
  ReadCondition,
  RecordChange,
  StoredRecord,
  UnitObserver,
  UnitOfWork,
} from '../types';
import type { SharedUnit } from './shared-unit';

type CountOptions = Pick<SearchOptions, 'names' | 'creator' | 'block' | 'place'>;

/**
 * The view of a unit for one work; reports the work's reads and writes to observers. The works of a group share the unit:
 * a call that the logic of one makes after its end must not count for another.
 */
export class UnitView implements UnitOfWork {
  private readonly observers: UnitObserver[] = [];
  private ended = false;
  private readonly running = new Set<Promise<unknown>>();

  constructor(private readonly shared: SharedUnit) {}

  observe(observer: UnitObserver): void {
    this.observers.push(observer);
  }

  /**
   * Makes every later call throw, and waits for those that are running: a host call may be waiting for the database while its
   * session ends.
   */
  async end(): Promise<void> {
    this.ended = true;
    await Promise.allSettled(this.running);
  }

  get(key: AppKey, id: string, creator?: string) {
    this.reports(key, id, creator);
    return this.call((unit) => unit.get(key, id, creator));
  }

  original(key: AppKey, id: string) {
    return this.call((unit) => unit.original(key, id));
  }

  page(key: AppKey, options: PageOptions) {
    this.reports(key, undefined, options.only?.creator);
    return this.call((unit) => unit.page(key, options));
  }

  search(key: AppKey, indexes: IndexDeclarations, options: SearchOptions, end?: ReadEnd) {
    this.searches(key, { ...options, indexes, isCount: false });
    return this.call((unit) => unit.search(key, indexes, options, end));
  }

  count(key: AppKey, indexes: IndexDeclarations, query?: string, options?: CountOptions, end?: ReadEnd) {
    // What a place looks at is not among the items that other processes hear of: any change of the app counts.
    if (options?.place) this.reports(key);
    else this.searches(key, { ...options, query, indexes, isCount: true });
    return this.call((unit) => unit.count(key, indexes, query, options, end));
  }

  countPlace(key: AppKey, indexes: IndexDeclarations, place: Place, enough: number) {
    return this.call((unit) => unit.countPlace(key, indexes, place, enough));
  }

  firstInPlace(key: AppKey, indexes: IndexDeclarations, place: Place, page: { limit: number; after: number }) {
    return this.call((unit) => unit.firstInPlace(key, indexes, place, page));
  }

  claim(key: AppKey, claim: Claim): void {
    this.requireOpen();
    this.shared.claim(key, claim);
  }

  create(key: AppKey, record: NewRecord) {
    return this.call(async (unit) => {
      const created = await unit.create(key, record);
      this.writes(key, created.id, created.creator);
      for (const watch of this.watchers(key, created)) watch(null, created.items);
      return created;
    });
  }

  update(key: AppKey, id: string, change: RecordChange) {
    return this.call(async (unit) => {
      const creator = (await unit.get(key, id))?.creator ?? null;
      this.writes(key, id, creator);
      return unit.update(key, id, change, ...this.watchers(key, { id, creator }));
    });
  }

  rename(key: AppKey, from: string, to: string, whenTaken: 'refuse' | 'number') {
    return this.call(async (unit) => {
      const renamed = await unit.rename(key, from, to, whenTaken);
      this.writes(key, renamed.id, renamed.creator);
      for (const { onRename } of this.observers) onRename?.(key, from, renamed.id);
      return renamed;
    });
  }

  delete(key: AppKey, id: string) {
    return this.call(async (unit) => {
      const creator = (await unit.get(key, id))?.creator ?? null;
      this.writes(key, id, creator);
      return unit.delete(key, id, ...this.watchers(key, { id, creator }));
    });
  }

  inTransaction<T>(work: () => Promise<T>, documentId?: string): Promise<T> {
    return this.call((unit) => unit.inTransaction(work, documentId));
  }

  reads() {
    this.requireOpen();
    return this.shared.reads();
  }

  noteContent(row: ContentRow): void {
    this.requireOpen();
    this.shared.noteContent(row);
  }

  alongside<T>(work: () => Promise<T>): Promise<T> {
    return this.call((unit) => unit.alongside(work));
  }

  atCommit(write: CommitWrite): void {
    this.requireOpen();
    this.shared.atCommit(write);
  }

  insertAtCommit(rows: CommitRows): void {
    this.requireOpen();
    this.shared.insertAtCommit(rows);
  }

  afterCommit(effect: () => void | Promise<void>): void {
    this.requireOpen();
    this.shared.afterCommit(effect);
  }

  private call<T>(work: (unit: SharedUnit) => Promise<T>): Promise<T> {
    if (this.ended) return Promise.reject(hasEnded());
    const running = work(this.shared);
    this.running.add(running);
    const end = () => void this.running.delete(running);
    running.then(end, end);
    return running;
  }

  private requireOpen(): void {
    if (this.ended) throw hasEnded();
  }

  private reports(key: AppKey, id?: string, creator?: string): void {
    for (const { onRead } of this.observers) onRead?.(key, id, creator);
  }

  private searches(key: AppKey, asked: ReadCondition): void {
    const { query, names, creator, block, confirmed, indexes, isCount } = asked;
    const condition: ReadCondition = { query, names, creator, block, confirmed, indexes, isCount };
    for (const { onRead } of this.observers) onRead?.(key, undefined, creator, condition);
  }

  /** One function for all observers of items; none without such observers. */
  private watchers(
    key: AppKey,
    { id, creator }: Pick<StoredRecord, 'id' | 'creator'>,
  ): [] | [(before: Items | null, after: Items | null) => void] {
    const watching = this.observers.filter(({ onItems }) => onItems);
    if (watching.length === 0) return [];
    return [
      (before, after) => {
        for (const { onItems } of watching) onItems?.(key, before, after, { id, creator });
      },
    ];
  }

  private writes(key: AppKey, id: string, creator: string | null): void {
    for (const { onWrite } of this.observers) onWrite?.(key, id, creator);
  }
}

const hasEnded = (): Error => new Error('the unit of work has ended');
