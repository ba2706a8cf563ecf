import type { Items } from '../../../shared/json';
import { AppsError } from '../errors';
import type { NewRecord } from '../records/types';
import { type BlockSession, openBlock } from './block-session';
import { blockOf, idOf } from './record-operations';
import { type AppServices, keyOf, type Run, type Visit, withRun } from './run';
import { saveInSession } from './save-record';
import type { App } from './types';

/** Where the items of a bulk creation come from; can be read again from the start, for a re-run. */
export interface ItemSource {
  /** Whether an item object names a block: its logic must then run. */
  namesBlocks: boolean;
  read(): AsyncIterable<Items>;
}

/**
 * Creates many records, all or nothing (operation 6), for a requester who may create; returns how many. Records without
 * a block are streamed to the store, in bounded memory. Records of blocks are made in one unit of work, under the time
 * limit of one request.
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

async function createWithLogic(run: Run, source: ItemSource): Promise<number> {
  const sessions = new Map<string, BlockSession>();
  const creator = run.visit.requester.identity || null;
  let total = 0;
  try {
    for await (const items of source.read()) {
      const fresh = newRecord(items, creator);
      const block = blockOf(run, fresh.items);
      const record = await run.unit.create(keyOf(run), run.app.indexes, fresh);
      total += 1;
      if (!block) continue;
      const session = sessions.get(block.id) ?? (await openBlock(run, block, null));
      sessions.set(block.id, session);
      await saveInSession(run, block, session, record, { creation: true, choosesId: fresh.id === undefined });
    }
  } finally {
    for (const session of sessions.values()) session.close();
  }
  return total;
}

/** An item object of a bulk creation, or a BadRequestError that says which one is wrong. */
export function itemsOf(value: unknown, position: string): Items {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new AppsError('BadRequestError', `${position} must be an object of items`);
  }
  return value as Items;
}
