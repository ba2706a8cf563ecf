import { type Items, isItems } from '../../../../../shared/json';
import { AppsError, isAppsError } from '../../../common/errors';
import { shortWork } from '../../../common/time/pace';
import { processClock } from '../../../common/time/process-clock';
import { documentIdsIn } from '../../../files';
import { PausedError } from '../../../logic';
import { changedBy } from '../../../records';
import type { NewRecord, StoredRecord } from '../../../records/types';
import { settlePlaces } from '../../run/places/settle';
import { type RunOptions, withRun } from '../../run/run';
import type { AppServices, Run, Visit } from '../../run/types';
import { provenanceOf } from '../../run/visits';
import type { App, Block } from '../../types';
import { type BlockSession, openBlock } from '../block-session';
import { blockOf, createOfBlock, createWithoutBlock, newRecord } from './record-operations';

/** The source of a bulk creation's items, in batches; a re-run reads it again from the start. */
export interface ItemSource {
  /** Whether there are rules for one of the item objects (`hasRules`). */
  hasRules: boolean;
  read(): AsyncIterable<Items[]>;
  /** The line of a record of the batch that was read last, both from 1; null where records have no lines. */
  lineOf: ((record: number) => number) | null;
}

/**
 * Creates many records, all or nothing (operation 6), for a requester who may create; returns their number. Records without
 * rules are streamed to the store. Records of blocks are created in one unit of work, in memory until the commit; the
 * limits of logic count for each record, and for each batch.
 */
export async function createMany(services: AppServices, visit: Visit, app: App, source: ItemSource): Promise<number> {
  // The store's own stream commits at once.
  if (source.hasRules || app.settings.strict || visit.dry) {
    const sent = async function* () {
      for await (const batch of source.read()) for (const items of batch) yield newRecord({ visit, app }, items);
    };
    return (await withRun(services, visit, app, (run) => createWithLogic(run, sent(), source.lineOf))).value;
  }
  const records = async function* () {
    for await (const batch of source.read()) yield batch.map((items) => newRecord({ visit, app }, items));
  };
  const key = { site: visit.site.id, app: app.id };
  return changedBy(provenanceOf(visit), () => services.store.createMany(key, { read: records })).catch((error) => {
    const { record = 0 } = (isAppsError(error) ? error.details : {}) as { record?: number };
    throw stoppedAt(record, error, source.lineOf);
  });
}

/**
 * Creates records of an import, all or none, each by the rules of its block. Unlike those of a client they have a creator of their
 * own.
 * @param options whether they are only checked, and what was checked before them
 */
export async function importRecords(
  services: AppServices,
  visit: Visit,
  app: App,
  records: readonly NewRecord[],
  options: Pick<RunOptions, 'isDropped' | 'tally'>,
): Promise<number> {
  const each = async function* () {
    yield* records;
  };
  return (await withRun(services, visit, app, (run) => createWithLogic(run, each(), null), options)).value;
}

/** Records whose logic shares a context; a context grows with each record by what its functions set. */
const BATCH_SIZE = 100;

/** Maximum time of a batch's logic, in time limits of one record. */
const MAX_BATCH_TIMES = 10;

/** Maximum characters of all items of one bulk creation with logic: they are in memory until the commit. */
const MAX_PENDING = 64 * 1024 * 1024;

async function createWithLogic(
  run: Run,
  records: AsyncIterable<NewRecord>,
  lineOf: ItemSource['lineOf'],
): Promise<number> {
  const { logicTime } = run.services.config.limits;
  let sessions = blockSessions(run);
  let [total, pending, batchEnd] = [0, 0, 0];
  try {
    for await (const fresh of records) {
      if (total % BATCH_SIZE === 0) {
        sessions.close();
        sessions = blockSessions(run);
        batchEnd = processClock.now() + MAX_BATCH_TIMES * logicTime;
      }
      total += 1;
      run.services.logic.renew(run.budget);
      run.budget.shared.deadline = Math.min(run.budget.shared.deadline, batchEnd);
      const record = await createOne(run, sessions, fresh);
      await settlePlaces(run);
      pending += await shortWork(() => JSON.stringify(record.items).length);
      if (pending > MAX_PENDING)
        throw new AppsError('PayloadTooLargeError', `The records so far are larger than ${MAX_PENDING / 1024 ** 2} MB`);
    }
  } catch (error) {
    throw stoppedAt(total, error, lineOf);
  } finally {
    sessions.close();
  }
  return total;
}

/** Sessions that one bulk creation has open: only the first has a permit, and each counts as nested in it. */
const MAX_OPEN = 8;

/** The sessions of the blocks of one batch, each opened at its first use. */
function blockSessions(run: Run): { of(block: Block): Promise<BlockSession>; close(): void } {
  const open = new Map<string, BlockSession>();
  const close = () => {
    for (const session of open.values()) session.close();
    open.clear();
  };
  return {
    close,
    async of(block) {
      if (open.size >= MAX_OPEN && !open.has(block.id)) close();
      const session = open.get(block.id) ?? (await openBlock(run, block, null));
      open.set(block.id, session);
      return session;
    },
  };
}

async function createOne(
  run: Run,
  sessions: ReturnType<typeof blockSessions>,
  fresh: NewRecord,
): Promise<StoredRecord> {
  const block = blockOf(run, fresh.items);
  if (!block) return createWithoutBlock(run, fresh);
  return createOfBlock(run, block, await sessions.of(block), fresh);
}

/** Errors of the whole request, which is run again or sent again. */
const TEMPORARY = new Set(['ServiceUnavailableError', 'OutcomeUnknownError', 'InternalServerError']);

/** The error with the record at which a bulk creation stopped, by its number and its line, and that nothing was stored. */
function stoppedAt(record: number, error: unknown, lineOf: ItemSource['lineOf']): unknown {
  if (!isAppsError(error) || error instanceof PausedError || TEMPORARY.has(error.name) || record === 0) return error;
  const { name, message, details, headers, position, cause } = error;
  const whole = `${message}${/[.!?]$/.test(message) ? '' : '.'} Nothing was stored.`;
  const at = { record, ...(lineOf && { line: lineOf(record) }) };
  return new AppsError(name, whole, {
    subject: `Record ${record}`,
    details: { ...details, ...at },
    headers,
    position,
    cause,
  });
}

/** Whether there are rules for an item object: it names a block, whose logic must run, or a file, which may be of another record. */
export const hasRules = (items: Items): boolean =>
  (items.block !== undefined && items.block !== null) || documentIdsIn(items).length > 0;

/** An item object of a bulk creation; BadRequestError with its position and these details for anything else. */
export function itemsOf(value: unknown, position: string, details: Items): Items {
  if (!isItems(value)) throw new AppsError('BadRequestError', `${position} must be an object of items`, { details });
  return value;
}
