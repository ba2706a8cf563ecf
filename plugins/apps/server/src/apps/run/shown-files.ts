import { chunks } from '../../common/lists';
import { documentIdsIn, type Files, type ShownFile } from '../../files';
import { mayNameFiles, withOtherItems } from '../../records';
import type { AppKey, StoredRecord } from '../../records/types';
import type { Run } from './types';

/** Files looked up in one attempt at a request, by app and document id; null: the library has it no more. */
const lookedUp = new WeakMap<Run['unit'], Map<string, ShownFile | null>>();

/**
 * Records whose files have the addresses at which they are now, for all records with one look-up. A record without files is
 * returned unchanged, and costs none.
 */
export function shownRecords(files: Files, key: AppKey, records: readonly StoredRecord[]): Promise<StoredRecord[]> {
  return withAddresses(files, records, (documentIds) => files.addresses.find(key, documentIds));
}

/** The same within a run, where files are looked up once. @param app whose records they are */
export async function shownInRun(run: Run, app: string, records: readonly StoredRecord[]): Promise<StoredRecord[]> {
  const { files } = run.services;
  const key = { site: run.visit.site.id, app };
  const known = lookedUp.get(run.unit) ?? new Map<string, ShownFile | null>();
  lookedUp.set(run.unit, known);
  const nameOf = (documentId: string) => `${app}\n${documentId}`;
  return withAddresses(files, records, async (documentIds) => {
    const missing = documentIds.filter((documentId) => !known.has(nameOf(documentId)));
    if (missing.length > 0) {
      const loaded = await run.unit.alongside(() => files.addresses.find(key, missing));
      for (const one of missing) known.set(nameOf(one), loaded.get(one) ?? null);
    }
    const found = new Map<string, ShownFile>();
    for (const documentId of documentIds) {
      const file = known.get(nameOf(documentId));
      if (file) found.set(documentId, file);
    }
    if ([...found.values()].some(({ isSigned }) => isSigned)) run.visit.onSigned?.();
    return found;
  });
}

/** One record, or null. */
export async function shownRecord<T extends StoredRecord | null>(run: Run, record: T, app = run.app.id): Promise<T> {
  return record && ((await shownInRun(run, app, [record]))[0] as T);
}

/** Records whose files are looked up together. */
const AT_ONCE = 500;

/** Files that are looked up for so many records: a client may write a record of thousands. Others keep the stored address. */
export const MAX_LOOKED_UP = 10_000;

type Find = (documentIds: readonly string[]) => Promise<ReadonlyMap<string, ShownFile>>;

async function withAddresses(files: Files, records: readonly StoredRecord[], find: Find): Promise<StoredRecord[]> {
  const shown: StoredRecord[] = [];
  for (const some of chunks(records, AT_ONCE)) shown.push(...(await ofSome(files, some, find)));
  return shown;
}

async function ofSome({ addresses }: Files, records: readonly StoredRecord[], find: Find): Promise<StoredRecord[]> {
  const wanted = new Set<string>();
  const named = new Set<StoredRecord>();
  for (const record of records) {
    const documentIds = mayNameFiles(record) ? documentIdsIn(record.items) : [];
    if (documentIds.length > 0) named.add(record);
    for (const documentId of documentIds) if (wanted.size < MAX_LOOKED_UP) wanted.add(documentId);
  }
  if (named.size === 0) return [...records];
  const found = await find([...wanted]);
  return records.map((record) =>
    named.has(record) ? withOtherItems(record, addresses.put(record.items, found)) : record,
  );
}
