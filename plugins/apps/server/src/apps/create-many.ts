import type { Items } from '../../../shared/json';
import { AppsError, isAppsError } from '../errors';
import type { NewRecord, StoredRecord } from '../records/types';
import { type BlockSession, openBlock } from './block-session';
import { blockOf, idOf } from './record-operations';
import { type AppServices, keyOf, type Run, type Visit, withRun } from './run';
import { saveInSession } from './save-record';
import type { App, Block } from './types';

/** Where the items of a bulk creation come from; can be read again from the start, for a re-run. */
export interface ItemSource {
  /** Whether an item object names a block: its logic must then run. */
  namesBlocks: boolean;
  read(): AsyncIterable<Items>;
}

/**
 * Creates many records, all or nothing (operation 6), for a requester who may create; returns how many. Records without
 * a block are streamed to the store. Records of blocks are made in one unit of work, in memory until the commit; the
 * limits of logic count for each record, and for each batch.
 */
export async function createMany(services: AppServices, visit: Visit, app: App, source: ItemSource): Promise<number> {
  if (source.namesBlocks) {
    return (await withRun(services, visit, app, (run) => createWithLogic(run, source))).value;
  }
  const creator = visit.requester.identity || null;
  return services.store.createMany({ site: visit.site.id, app: app.id }, app.indexes, newRecords(source, creator));
}

async function* newRecords(source: ItemSource, creator: string | null): AsyncIterable<NewRecord> {
  for await (const items of source.read()) yield newRecord(items, creator);
}

function newRecord(items: Items, creator: string | null): NewRecord {
  const id = idOf(items);
  return { ...(id === undefined ? {} : { id, whenTaken: 'refuse' as const }), items, creator };
}

/** Records whose logic shares a context: a context keeps what its functions have set, so that it grows with each record. */
const BATCH = 100;

/** Time limits of one record that the logic of a batch may take together. */
const BATCH_TIMES = 10;

/** Characters of all items that one bulk creation with logic may store: they are in memory until the commit. */
const MAX_PENDING = 64 * 1024 * 1024;

async function createWithLogic(run: Run, source: ItemSource): Promise<number> {
  const creator = run.visit.requester.identity || null;
  const { logicTime } = run.services.config.limits;
  let sessions = blockSessions(run);
  let [total, pending, batchEnd] = [0, 0, 0];
  try {
    for await (const items of source.read()) {
      if (total % BATCH === 0) {
        sessions.close();
        sessions = blockSessions(run);
        batchEnd = performance.now() + BATCH_TIMES * logicTime;
      }
      total += 1;
      run.services.logic.renew(run.budget);
      run.budget.deadline = Math.min(run.budget.deadline, batchEnd);
      const record = await createOne(run, sessions, newRecord(items, creator));
      pending += JSON.stringify(record.items).length;
      if (pending > MAX_PENDING)
        throw new AppsError('PayloadTooLargeError', `The records so far are larger than ${MAX_PENDING / 1024 ** 2} MB`);
    }
  } catch (error) {
    throw stoppedAt(total, error);
  } finally {
    sessions.close();
  }
  return total;
}

/** The sessions of the blocks of one batch, each opened when it is first needed. */
function blockSessions(run: Run): { of(block: Block): Promise<BlockSession>; close(): void } {
  const open = new Map<string, BlockSession>();
  return {
    async of(block) {
      const session = open.get(block.id) ?? (await openBlock(run, block, null));
      open.set(block.id, session);
      return session;
    },
    close() {
      for (const session of open.values()) session.close();
    },
  };
}

async function createOne(
  run: Run,
  sessions: ReturnType<typeof blockSessions>,
  fresh: NewRecord,
): Promise<StoredRecord> {
  const block = blockOf(run, fresh.items);
  const record = await run.unit.create(keyOf(run), run.app.indexes, fresh);
  if (!block) return record;
  const options = { creation: true, choosesId: fresh.id === undefined };
  return (await saveInSession(run, block, await sessions.of(block), record, options)).record;
}

/** Errors that concern the whole request: it is run again, or its client comes again. */
const PASSING = new Set(['ServiceUnavailableError', 'InternalServerError']);

/** The same error, which says at which record a bulk creation stopped (counted from 1), and that nothing was stored. */
function stoppedAt(record: number, error: unknown): unknown {
  if (!isAppsError(error) || PASSING.has(error.name) || record === 0) return error;
  const { name, message, details, headers, position, cause } = error;
  const place = `Record ${record}: ${message}${/[.!?]$/.test(message) ? '' : '.'} Nothing was stored.`;
  return new AppsError(name, place, { details: { ...details, record }, headers, position, cause });
}

/** An item object of a bulk creation, or a BadRequestError that says which one is wrong. */
export function itemsOf(value: unknown, position: string): Items {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new AppsError('BadRequestError', `${position} must be an object of items`);
  }
  return value as Items;
}
