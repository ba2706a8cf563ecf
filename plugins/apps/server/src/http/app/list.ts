import { Readable } from 'node:stream';
import type { Items } from '../../../../shared/json';
import { confirmedOnly, declaredCells, onlyOf, readCursor, shownRecords, writeCursor } from '../../apps';
import { readParameters } from '../../common/request-schema';
import { encoded } from '../../common/time/pace';
import { csvTable, XLSX_TYPE, xlsxTable } from '../../interchange';
import { itemsJson } from '../../records';
import type { PageOptions, StoredRecord } from '../../records/types';
import { listParameters } from '../request/body-schemas';
import type { Exchange } from '../request/exchange';
import { type ListFormat, listFormat } from '../request/negotiate';
import { resumed, streamed } from '../response/logic-response';

/** The JSON of an entry of a listing or search result (docs/reference/json-interface.md#operations). */
export function entryJson(exchange: Exchange, record: StoredRecord): string {
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
    const found = await services.store.page(key, { ...options, limit: options.limit + 1 });
    const page = found.slice(0, options.limit);
    const last = page.at(-1);
    if (last && found.length > page.length) ctx.set('Link', nextLink(exchange, options.limit, last.seq));
    return begun(
      ctx,
      write(exchange, () => shown(exchange, [page])),
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
