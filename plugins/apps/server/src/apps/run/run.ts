import { isAppsError, logicError } from '../../common/errors';
import { spanned } from '../../common/spans';
import { firstAttempt, nextAttempt } from '../../logic';
import type { LogicBudget, ResponseChanges, RunnerAttempt } from '../../logic/types';
import { changedBy, isAnsweredBefore } from '../../records';
import type { AppKey, CommitWrite, RecordAddress, UnitOfWork } from '../../records/types';
import { LiveReads } from '../live-topics';
import type { App } from '../types';
import { type AttemptCalls, createCallsOut, storeMails } from './calls-out';
import { checkNames, namesNotes } from './diagnostics/explain';
import { consoleOf } from './diagnostics/failures';
import { keepRun, newTrace, type Trace } from './diagnostics/trace';
import { FileChanges, FilesNeeded } from './files';
import { rightsIn } from './observed';
import { PlaceChanges, type PlaceTally } from './places/changes';
import { settlePlaces } from './places/settle';
import { refuseInvalid } from './refusals';
import type { AppServices, Ran, Run, Visit } from './types';
import { type DryRun, listJobs, listMails, observeWrites, provenanceOf, runIn } from './visits';

/** Maximum depth of blocks displayed, saved or deleted inside each other. */
export const MAX_DEPTH = 8;

/** The end of a job, written in the transaction of its work. */
export interface Settle {
  write: CommitWrite;
  /** Also where the work writes nothing: what it has read must still hold then. */
  isAlways: boolean;
}

/** How `withRun` does its work. */
export interface RunOptions {
  /** The record that the work writes, if known in advance. */
  recordId?: string;
  /** Nothing that the work writes is stored: it only shows what was refused. */
  isDropped?: boolean;
  /** Of a dropped work that is checked in parts: what the parts before have added to places. */
  tally?: PlaceTally | undefined;
  /** What is written with the work, from its value: the answer of a request that may come again. */
  keeps?: (value: unknown, done: Pick<Ran<unknown>, 'response' | 'flashes'>) => CommitWrite | null;
  settle?: Settle;
  /** What logic has left of an earlier run's budget; a new one without it. */
  budget?: LogicBudget | undefined;
}

/** Carries the result of a dropped run out of its transaction, which it rolls back. */
class Dropped {
  constructor(readonly value: unknown) {}
}

/**
 * Runs `work` as one transaction, again from the start on a collision, and writes its log to the server's log once.
 * Throws a FormRefusal where logic has refused what was sent (docs/reference/logic.md#own-validation).
 */
export async function withRun<T>(
  services: AppServices,
  visit: Visit,
  app: App,
  work: (run: Run) => Promise<T>,
  { recordId, isDropped = false, tally, keeps, settle, budget }: RunOptions = {},
): Promise<Ran<T>> {
  const beginCalls = createCallsOut();
  const by = provenanceOf(visit);
  const about = recordId === undefined ? undefined : { key: { site: visit.site.id, app: app.id }, id: recordId };
  const done = async (run: Run): Promise<T> => {
    const value = await work(run);
    if (run.fatal.error === undefined && run.refusals.errors.length === 0) await settlePlaces(run);
    if (visit.dry) endDry(run, visit.dry, isDropped);
    if (tally) for (const [place, count] of run.places.added) tally.set(place, count);
    if (isDropped || visit.dry) throw new Dropped(value);
    return value;
  };
  try {
    for (let attempt = firstAttempt; ; ) {
      try {
        const how = { about, tally, keeps, settle, budget, beginCalls };
        const once = () => changedBy(by, () => runOnce(services, visit, app, attempt, done, how));
        return await spanned('run', () => ({ site: visit.site.id, app: app.id }), once);
      } catch (error) {
        // Nothing of the attempt was stored, so that it can run again, whether or not its own logic has ended the sandbox.
        const next = nextAttempt(error, attempt);
        if (error instanceof FilesNeeded && visit.files) await visit.files.add(error.files, error.placeOf);
        else if (next) {
          attempt = next;
          services.metrics.retry({ site: visit.site.id, app: app.id });
        } else throw error;
      }
    }
  } catch (error) {
    // What is perhaps stored may name the files.
    if (!isAppsError(error, 'OutcomeUnknownError')) await visit.files?.finish(new Set());
    throw error;
  }
}

interface AttemptOptions {
  about: RecordAddress | undefined;
  tally: RunOptions['tally'];
  keeps: RunOptions['keeps'];
  settle: RunOptions['settle'];
  budget: RunOptions['budget'];
  /** Begins the calls out of an attempt. */
  beginCalls(): AttemptCalls;
}

async function runOnce<T>(
  services: AppServices,
  visit: Visit,
  app: App,
  attempt: RunnerAttempt,
  work: (run: Run) => Promise<T>,
  { about, tally, keeps, settle, budget, beginCalls }: AttemptOptions,
): Promise<Ran<T>> {
  let last: Run | undefined;
  let failed: unknown;
  try {
    const value = await services.store.transact(async (unit) => {
      if (last) services.metrics.retry(keyOf(last));
      const run = newRun(services, visit, app, unit, {
        attempt,
        earlier: last?.trace,
        tally,
        budget,
        calls: beginCalls(),
      });
      last = run;
      const result = await work(run);
      if (run.fatal.error !== undefined) throw run.fatal.error;
      refuseInvalid(run);
      if (run.mails.length > 0) await storeMails(run);
      const write = keeps?.(result, run);
      if (write) unit.atCommit(write);
      if (settle && (settle.isAlways || unit.reads() === null)) unit.atCommit(settle.write);
      return result;
    }, about);
    await (last as unknown as Run).files.finish(services, visit);
    return ran(last as unknown as Run, value);
  } catch (error) {
    if (last && error instanceof Dropped) return ran(last, error.value as T);
    failed = error;
    // The attempt that follows writes its log again, and that of the first has written it.
    if (isNoRun(error) && last) last.logs.length = 0;
    if (last) visit.noteFailed(consoleOf(last));
    throw error;
  } finally {
    if (last) writeLog(last);
    // An attempt whose request runs again is no run of its own.
    if (last && !isNoRun(failed) && !nextAttempt(failed, attempt)) keepRun(last, failed);
  }
}

/** Whether an attempt was in vain: its request runs again, or was answered before. */
const isNoRun = (error: unknown): boolean => error instanceof FilesNeeded || isAnsweredBefore(error);

/** Ends a run whose writes are switched off as its commit would. */
function endDry(run: Run, dry: DryRun, isDropped: boolean): void {
  if (run.fatal.error !== undefined) throw run.fatal.error;
  if (!isDropped) refuseInvalid(run);
  listMails(run, dry);
  listJobs(run, dry);
}

function ran<T>(run: Run, value: T): Ran<T> {
  const { response, logs, budget, flashes } = run;
  return { value, response, logs, budget, console: consoleOf(run), flashes };
}

/** What an attempt begins with. */
interface NewAttempt {
  attempt: RunnerAttempt;
  earlier: Trace | undefined;
  tally: PlaceTally | undefined;
  budget: LogicBudget | undefined;
  calls: AttemptCalls;
}

function newRun(
  services: AppServices,
  visit: Visit,
  app: App,
  unit: UnitOfWork,
  { attempt, earlier, tally, budget, calls }: NewAttempt,
): Run {
  checkNames(services, app);
  const since = visit.liveSince ?? services.live.position();
  const reads = new LiveReads();
  unit.observe(reads.observer);
  const places = new PlaceChanges(tally);
  unit.observe(places.observer);
  const files = new FileChanges();
  unit.observe(files);
  if (visit.dry) unit.observe(observeWrites(visit.dry));
  const rights = rightsIn(visit, app.settings);
  return {
    services,
    visit,
    app,
    rights,
    unit,
    since,
    reads,
    places,
    files,
    budget: budget ?? newBudget(services, visit, attempt),
    logs: [],
    failures: [],
    // Only managers may see the `acl` (docs/reference/json-interface.md#settings).
    notes: rights.manager || services.development ? [...namesNotes(app)] : [],
    links: new Map(),
    response: { status: null, headers: {}, redirect: null },
    depth: 0,
    deleting: new Set(),
    saving: new Set(),
    changes: { count: 0 },
    jobs: [],
    mails: [],
    calls,
    flashes: [],
    fatal: {},
    trace: newTrace(earlier),
    refusals: { isOpen: false, errors: [] },
  };
}

/** The blocks of a page share its budget (docs/reference/embedding.md#the-embedded-request). */
const newBudget = ({ logic }: AppServices, { pageBudget }: Visit, attempt: RunnerAttempt): LogicBudget =>
  pageBudget ? logic.beside(pageBudget, attempt) : logic.budget(attempt);

/** The run of a nested block in `app`, in the same attempt. LogicError above MAX_DEPTH levels. */
export function nestedRun(run: Run, app: App): Run {
  if (run.depth >= MAX_DEPTH) throw logicError(`Blocks are nested more than ${MAX_DEPTH} deep`);
  const response: ResponseChanges = { status: null, headers: {}, redirect: null };
  return { ...runIn(run, app), depth: run.depth + 1, response };
}

function writeLog(run: Run): void {
  for (const failure of run.failures) run.services.logger.error(`[apps] ${failure}`);
  for (const entry of run.logs) {
    const source = [entry.app, entry.block].filter(Boolean).join('/');
    const { logger } = run.services;
    const write = logger[entry.level ?? 'info'] ?? logger.info;
    write.call(logger, `[apps] ${source}${entry.line === null ? '' : `:${entry.line}`} ${entry.message}`);
  }
}

/** The site and app of the run's records. */
export function keyOf(run: Run): AppKey {
  return { site: run.visit.site.id, app: run.app.id };
}
