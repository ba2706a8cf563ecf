import { randomBytes } from 'node:crypto';
import {
  createSql,
  type Dialect,
  type HostDatabase,
  inTransaction,
  isFailure,
  type Sql,
  yieldToOthers,
} from '../../database';
import { addRows, type IndexedRecord } from '../rows';
import {
  type AppGenerations,
  analyzeTables,
  covers,
  createIndexes,
  createTables,
  dropTables,
  fits,
  type Generation,
  isCurrent,
  isOwnIndex,
  layoutOf,
  lockState,
  planned,
  readState,
  type StoredLayout,
  saveState,
  sortTerms,
  storedLayout,
} from '../tables';
import type { IndexDeclarations } from '../types';

/** Milliseconds without a heartbeat after which another builder takes over. */
const builderTimeout = 6_000;

/** `add`: the wanted indexes and the existing ones of the app; `replace`: the wanted ones alone. */
type BuildMode = 'add' | 'replace';

interface BuildPlan {
  /** The generation that the caller must build, marked as its own; null when another process builds, or has built, it. */
  own: Generation | null;
  /** Whether `own` resumes the work of a builder that is gone; otherwise its tables must be created. */
  resumed: boolean;
  /** Id of the generation that another process builds, or has built. */
  other: string;
  /** Generations whose tables are no longer needed. */
  dropped: string[];
}

/** Decides, in the transaction, which generation of the app is built, and by which process. */
async function planBuild(
  sql: Sql,
  dialect: Dialect,
  scope: string,
  wanted: IndexDeclarations,
  mode: BuildMode,
): Promise<BuildPlan> {
  const state = await lockState(sql, dialect, scope, 'update');
  const now = Date.now();
  const unready = state.filter((generation) => generation.phase !== 'ready');
  const other = unready.find((generation) => generation.at >= now - builderTimeout);
  if (other) return { own: null, resumed: false, other: other.id, dropped: [] };
  const left = unready.find((generation) => canResume(generation, wanted, mode));
  const ready = state.filter((generation) => generation.phase === 'ready');
  // Another process has built it since the caller has read the state.
  const built = mode === 'add' ? ready.find((generation) => covers(generation, wanted)) : undefined;
  if (built) return { own: null, resumed: false, other: built.id, dropped: [] };
  const builder = randomBytes(8).toString('hex');
  const indexes = mode === 'add' ? merged(ready, wanted) : storedLayout(wanted);
  const own = { ...(left ?? planned(randomBytes(8).toString('hex'), indexes)), builder };
  own.at = now;
  await saveState(sql, scope, [...ready, own]);
  const dropped = unready.filter((generation) => generation !== left).map((generation) => generation.id);
  return { own, resumed: left !== undefined, other: '', dropped };
}

function canResume(left: Generation, wanted: IndexDeclarations, mode: BuildMode): boolean {
  if (left.phase !== 'building' || !isCurrent(left)) return false;
  return mode === 'add' ? covers(left, wanted) : JSON.stringify(left.indexes) === JSON.stringify(storedLayout(wanted));
}

/**
 * Keeps the indexes of processes with older declarations: otherwise each would rebuild what the other drops. Where these are too many for
 * one table, it keeps the plugin's own.
 */
function merged(live: AppGenerations, wanted: IndexDeclarations): StoredLayout {
  const held = live.flatMap((generation) => generation.indexes);
  const all = storedLayout(new Map([...held, ...wanted]));
  return fits(all) ? all : storedLayout(new Map([...held.filter(([name]) => isOwnIndex(name)), ...wanted]));
}

/** Existing records, for a new generation. */
export interface RecordSource {
  /**
   * Up to `limit` records of the app after `after`, in order of creation; fewer if they are large, none only at the end.
   * `keep`: locks them until the transaction ends.
   */
  scan(sql: Sql, scope: string, after: number, limit: number, keep: boolean): Promise<IndexedRecord[]>;
  count(sql: Sql, scope: string): Promise<number>;
  /** `seq` of the newest record; 0 when there is none. */
  last(sql: Sql, scope: string): Promise<number>;
}

export interface BuildTools {
  database: HostDatabase;
  dialect: Dialect;
  source: RecordSource;
  /** True when the server is stopping: another process then continues the build. */
  stopped(): boolean;
}

/**
 * Records of the builder's first transaction; in later ones the work takes about `batchTime` ms, which bounds the wait of writers.
 * Fewer than `MIN_BATCH` would only shorten the part that the transaction itself takes, where a commit waits for a standby.
 */
const firstBatch = 50;
const MIN_BATCH = 10;
const MAX_BATCH = 5_000;
const batchTime = 30;
/** Milliseconds after which a builder reports that it is alive, and its progress. */
const heartbeat = 1_000;

/**
 * Makes a new generation with the wanted indexes beside the old ones, fills it in batches while records are read and
 * written as usual, and replaces them by it. Resumes a generation that a process has left unfinished. When another
 * process builds already, waits for it instead and returns false.
 */
export async function build(
  tools: BuildTools,
  scope: string,
  wanted: IndexDeclarations,
  mode: BuildMode,
): Promise<boolean> {
  const plan = await inTransaction(tools, (sql) => planBuild(sql, tools.dialect, scope, wanted, mode));
  const sql = createSql(tools.database.knex(), tools.dialect);
  await dropTables(sql, plan.dropped);
  if (!plan.own) {
    await waitForOther(tools, sql, scope, plan.other);
    return false;
  }
  const work = { ...tools, sql, scope, own: plan.own };
  try {
    const late = await open(work, plan.resumed);
    await fill(work);
    await finish(work, late);
  } catch (error) {
    // Removed or taken over meanwhile (records cleared, indexes declared again, this builder timed out): the next search
    // that needs the generation builds it.
    if (!(error instanceof Superseded) && !isFailure(error, 'missing-table')) throw error;
    if (!tools.stopped() && !(await isNamed(sql, scope, plan.own.id))) await dropTables(sql, [plan.own.id]);
  }
  return true;
}

interface Build extends BuildTools {
  sql: Sql;
  scope: string;
  own: Generation;
}

class Superseded extends Error {}

async function isNamed(sql: Sql, scope: string, id: string): Promise<boolean> {
  return (await readState(sql, scope)).some((generation) => generation.id === id);
}

/** Makes the tables, to which every writer writes from then on. Returns whether their indexes must be created last. */
async function open({ sql, dialect, source, scope, own, ...tools }: Build, resumed: boolean): Promise<boolean> {
  const total = await source.count(sql, scope);
  const late = dialect.indexesLast(total);
  if (!resumed) {
    await createTables(sql, dialect, own.id, layoutOf(own.indexes));
    if (!late) await createIndexes(sql, dialect, own.id, layoutOf(own.indexes), false);
  }
  const started = { phase: 'building' as const, total, late: resumed ? own.late : late };
  await change({ sql, dialect, source, scope, own, ...tools }, (generation) => Object.assign(generation, started));
  return started.late === true;
}

/** Changes the generation in the stored state; Superseded when it is gone or belongs to another builder. */
function change(
  { scope, own, ...tools }: Build,
  apply: (mine: Generation, state: AppGenerations) => unknown,
): Promise<AppGenerations> {
  return inTransaction(tools, async (sql) => {
    const state = await lockState(sql, tools.dialect, scope, 'update');
    const mine = owned(state, own);
    mine.at = Date.now();
    apply(mine, state);
    await saveState(sql, scope, state);
    return state;
  });
}

function owned(state: AppGenerations, own: Generation): Generation {
  const mine = state.find((generation) => generation.id === own.id && generation.builder === own.builder);
  if (!mine) throw new Superseded();
  return mine;
}

/** Adds the records that were there when the tables were opened: writers have added all later ones. */
async function fill(work: Build): Promise<void> {
  const { own, scope, dialect, source } = work;
  const layout = layoutOf(own.indexes);
  const last = await source.last(work.sql, scope);
  let { after, done } = own;
  let size = firstBatch;
  let reported = Date.now();
  while (!work.stopped()) {
    const began = performance.now();
    let time = 0;
    const batch = await inTransaction(work, async (sql) => {
      // Locked until the batch is written: two builders never fill one generation at the same time.
      owned(await lockState(sql, dialect, scope, 'share'), own);
      const locked = performance.now();
      const records = await source.scan(sql, scope, after, size, true);
      await addRows(sql, dialect, own.id, layout, records);
      time = performance.now() - locked;
      return records;
    });
    if (batch.length === 0) return;
    after = batch.at(-1)?.seq as number;
    done += batch.length;
    if (after >= last) return;
    size = Math.round(Math.min(MAX_BATCH, Math.max(MIN_BATCH, size * Math.min(2, batchTime / Math.max(1, time)))));
    if (Date.now() - reported > heartbeat) {
      await change(work, (mine) => Object.assign(mine, { after, done }));
      reported = Date.now();
    }
    await yieldToOthers(dialect, began);
    await work.database.settled?.();
  }
  throw new Superseded();
}

async function finish(work: Build, late: boolean): Promise<void> {
  const { sql, dialect, own } = work;
  if (late || dialect.sortedTerms) {
    // Half-made indexes are not worth repairing: a builder that takes over now starts again.
    await change(work, (mine) => Object.assign(mine, { phase: 'indexing', done: mine.total }));
    const alive = setInterval(() => void change(work, () => {}).catch(() => undefined), heartbeat);
    try {
      if (late) await createIndexes(sql, dialect, own.id, layoutOf(own.indexes), true);
      if (dialect.sortedTerms) await sortTerms(sortTools(work), own.id);
    } finally {
      clearInterval(alive);
    }
  }
  await analyzeTables(sql, dialect, own.id);
  const dropped: string[] = [];
  await change(work, (mine, state) => {
    const others = state.filter((generation) => generation !== mine);
    dropped.splice(0, Infinity, ...others.map((generation) => generation.id));
    state.splice(0, Infinity, { ...mine, phase: 'ready', done: mine.total });
  });
  await dropTables(sql, dropped);
}

function sortTools(work: Build) {
  const { sql, dialect, scope, own } = work;
  return {
    sql,
    transact: (step: (sql: Sql) => Promise<void>) =>
      inTransaction(work, async (trx) => {
        owned(await lockState(trx, dialect, scope, 'share'), own);
        await step(trx);
      }),
    async pause(began: number) {
      await yieldToOthers(dialect, began);
      await work.database.settled?.();
      if (work.stopped()) throw new Superseded();
    },
  };
}

/** Waits until the generation that another process builds is ready or gone. */
async function waitForOther(tools: BuildTools, sql: Sql, scope: string, id: string): Promise<void> {
  while (!tools.stopped()) {
    const other = (await readState(sql, scope)).find((generation) => generation.id === id);
    if (!other || other.phase === 'ready' || other.at < Date.now() - builderTimeout) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/**
 * Removes all generations of an app from the state; the caller drops the tables after the commit (`dropTables`).
 * @param id removes nothing when the app has this generation no longer
 */
export async function forget(sql: Sql, dialect: Dialect, scope: string, id?: string): Promise<string[]> {
  const state = await lockState(sql, dialect, scope, 'update');
  if (id !== undefined && !state.some((generation) => generation.id === id)) return [];
  await saveState(sql, scope, []);
  return state.map((generation) => generation.id);
}
