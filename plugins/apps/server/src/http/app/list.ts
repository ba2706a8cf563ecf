import { Readable } from 'node:stream';
import type { Items, Json } from '../../../../shared/json';
import {
  confirmedOnly,
  declaredCells,
  onlyOf,
  type Run,
  readCursor,
  requireHistory,
  restoreVersion,
  shownRecords,
  withRun,
  writeCursor,
} from '../../apps';
import { missing, notFound } from '../../common/errors';
import { encoded } from '../../common/time/pace';
import { readParameters, validateBody } from '../../common/validation';
import { csvTable, XLSX_TYPE, xlsxTable } from '../../interchange';
import { type HistoryVersion, itemsJson } from '../../records';
import type { PageOptions, StoredRecord } from '../../records/types';
import { jsonObject } from '../request/body';
import type { Exchange, TargetOf } from '../request/exchange';
import { type ListFormat, listFormat } from '../request/negotiate';
import { historyParameters, listParameters, restoreBody } from '../request/operations';
import { resumed, streamed } from '../response/logic-response';
import { jsonRefusal } from './json-use';
import { doneOnce, namedRequest } from './kept-answers';

/** The JSON of an entry of a listing or search result (docs/reference/json-interface.md#operations). */
function entryJson(exchange: Exchange, record: StoredRecord): string {
  const [path, id] = [recordUrl(exchange, record.id), record.id].map((text) => JSON.stringify(text));
  return `{"path":${path},"id":${id},"items":${itemsJson(record)}}`;
}

/** Every returned record's items have its `id` (docs/reference/json-interface.md#items). */
export function withId(record: StoredRecord): Items {
  return { ...record.items, id: record.id };
}

export function recordUrl({ services, site, app, visit }: Exchange, id: string): string {
  return services.sites.urls.record(site, app.id, id, visit.contentPath);
}

/** Operation 4: the app's records in order of creation, streamed; memory stays flat for any number of records. */
export async function list(exchange: Exchange, file?: TableFile): Promise<void> {
  const { ctx, services } = exchange;
  const format = file ? fileTypes[file] : listFormat(ctx);
  const write = file === 'csv' ? markedCsv : writers[format];
  const options = { ...pageOptions(ctx.query), ...visibleOnly(exchange) };
  const key = keyOf(exchange);
  ctx.type = format;
  ctx.set('Cache-Control', 'private, no-cache');
  if (options.limit !== undefined) {
    const { records, next } = await services.store.page(key, options);
    if (next !== undefined) ctx.set('Link', nextLink(exchange, options.limit, next));
    return begun(
      ctx,
      write(exchange, () => shown(exchange, [records])),
    );
  }
  // The first batch is read before the answer begins, so that a lost database is still a clean error.
  const stream = () => services.store.stream(key, options);
  const batches = stream()[Symbol.asyncIterator]();
  const first = [resumed(await batches.next(), batches)];
  await begun(
    ctx,
    write(exchange, () => shown(exchange, first.pop() ?? stream())),
  );
}

/** Tables that are files, for spreadsheets: CSV begins with a byte order mark. */
export type TableFile = 'csv' | 'xlsx';

const fileTypes = { csv: 'text/csv', xlsx: XLSX_TYPE } as const;

/** Answers with records as a table in a file. */
export async function table(exchange: Exchange, found: StoredRecord[], file: TableFile): Promise<void> {
  const { ctx } = exchange;
  ctx.type = fileTypes[file];
  ctx.set('Cache-Control', 'private, no-store');
  const write = file === 'csv' ? markedCsv : writers[XLSX_TYPE];
  await begun(
    ctx,
    write(exchange, () => shown(exchange, [found])),
  );
}

/** Answers with pieces, the first of which is made before the answer begins: what no table can hold is a clean error. */
async function begun(ctx: Exchange['ctx'], pieces: AsyncGenerator<string | Buffer>): Promise<void> {
  const first = await pieces.next();
  ctx.body = streamed(ctx, resumed(first, pieces));
}

/** Answers with records as one JSON array, with its length. */
export async function array(exchange: Exchange, found: StoredRecord[]): Promise<void> {
  const { ctx } = exchange;
  ctx.type = 'application/json';
  ctx.set('Cache-Control', 'private, no-store');
  const pieces: Buffer[] = [];
  for await (const piece of jsonArray(exchange, shown(exchange, [found]))) pieces.push(piece);
  ctx.body = pieces.length === 1 ? pieces[0] : Readable.from(pieces);
  ctx.length = pieces.reduce((sum, { length }) => sum + length, 0);
}

function pageOptions(query: unknown): PageOptions {
  const { cursor, ...page } = readParameters(listParameters, query);
  return cursor === undefined ? page : { ...page, after: readCursor(cursor) };
}

/** Restricts a listing to the records that the requester may see. */
const visibleOnly = ({ rights, app }: Exchange): Pick<PageOptions, 'only'> => ({
  only: onlyOf(app, {
    ...(rights.viewOwn === null ? {} : { creator: rights.viewOwn }),
    ...confirmedOnly({ app, rights }),
  }),
});

function nextLink({ services, site, app, visit, target }: Exchange, limit: number, seq: number): string {
  const url = `${services.sites.urls.app(site, app.id, visit.contentPath)}/${target.kind}`;
  return `<${url}?limit=${limit}&cursor=${writeCursor(seq)}>; rel="next"`;
}

const keyOf = ({ site, app }: Exchange) => ({ site: site.id, app: app.id });

/** Batches of records in memory, or a stream of all records. */
type Batches = StoredRecord[][] | AsyncIterable<StoredRecord[]>;

/** The records with the addresses of their files, looked up for each batch together. */
async function* shown(exchange: Exchange, batches: Batches): AsyncGenerator<StoredRecord[]> {
  for await (const batch of batches) yield await shownRecords(exchange.services.files, keyOf(exchange), batch);
}
type Writer = (exchange: Exchange, read: () => Batches) => AsyncGenerator<string | Buffer>;

/** How each media type writes the records that `read` gives, each time from the first. */
const writers: Record<ListFormat, Writer> = {
  'application/json': (exchange, read) => jsonArray(exchange, read()),
  'application/x-ndjson': (exchange, read) => encoded(read(), (record) => `${entryJson(exchange, record)}\n`),
  'text/csv': (exchange, read) => csvTable(read, { declared: declaredCells(exchange.app), isWhole: false }),
  [XLSX_TYPE]: (exchange, read) => xlsxTable(read, { declared: declaredCells(exchange.app), isWhole: false }),
};

const markedCsv: Writer = (exchange, read) =>
  csvTable(read, { declared: declaredCells(exchange.app), isWhole: false, hasMark: true });

function jsonArray(exchange: Exchange, batches: Batches): AsyncGenerator<Buffer> {
  let separator = '[';
  const entry = (record: StoredRecord) => {
    const text = separator + entryJson(exchange, record);
    separator = ',';
    return text;
  };
  return encoded(batches, entry, { ending: () => (separator === '[' ? '[]' : ']') });
}

type HistoryExchange = Exchange<TargetOf<'history'>>;

/** A version as the JSON interface shows it (docs/reference/history.md#over-http). */
const shownVersion = ({ version, at, by, through }: HistoryVersion, items: Items | null): Record<string, Json> => ({
  version,
  at: new Date(at).toISOString(),
  by,
  through,
  items,
});

/** `GET <app>/history/<record id>`: what changes have made of a record, newest first. NotFoundError where nothing is known of it. */
export async function getHistory(exchange: HistoryExchange): Promise<void> {
  const { ctx, services, site, app, target } = exchange;
  requireHistory(exchange);
  const { before, limit } = readParameters(historyParameters, ctx.query);
  const key = { site: site.id, app: app.id };
  const { versions, isLast } = await services.history.page(key, { id: target.id, before, limit });
  if (versions.length === 0 && before === undefined) throw notFound(missing.record(target.id, app.id));
  const last = versions.at(-1);
  if (last && !isLast) {
    const next = new URLSearchParams({ limit: String(limit), before: String(last.version) });
    ctx.set('Link', `<${historyUrl(exchange)}?${next}>; rel="next"`);
  }
  ctx.set('Cache-Control', 'private, no-store');
  ctx.body = await shownVersions(exchange, versions);
}

async function shownVersions({ services, site, app }: HistoryExchange, versions: readonly HistoryVersion[]) {
  const records = versions.map(({ id, creator, items }) => ({ id, creator, items: items ?? {}, version: 0, seq: 0 }));
  const shown = await shownRecords(services.files, { site: site.id, app: app.id }, records);
  return versions.map((one, at) => shownVersion(one, one.items && { ...shown[at]?.items, id: one.id }));
}

/** `record` and `history` differ in one name of their addresses alone. */
const historyUrl = (exchange: HistoryExchange): string => {
  const { services, site, app, visit, target } = exchange;
  const base = services.sites.urls.app(site, app.id, visit.contentPath);
  return `${base}/history${recordUrl(exchange, target.id).slice(`${base}/record`.length)}`;
};

/** `POST <app>/history/<record id>`: makes the record what it was after a change, by the rules of its block. */
export async function postHistory(exchange: HistoryExchange): Promise<void> {
  const { ctx, services, visit, app, target } = exchange;
  const { version } = validateBody(restoreBody, jsonObject(ctx));
  // Its own record is no reason: versions are those of the right to all records.
  const refused = jsonRefusal(exchange, 'edit', false);
  if (refused) throw refused;
  const restore = async (run: Run) => ({ created: (await restoreVersion(run, target.id, version)).created });
  const done = await doneOnce(exchange, namedRequest(exchange), (keeps) =>
    withRun(services, visit, app, restore, { recordId: target.id, ...keeps }),
  );
  const { created } = done.value;
  ctx.status = created ? 201 : 200;
  ctx.body = { path: recordUrl(exchange, target.id), id: target.id, success: created ? 'created' : 'updated' };
}
