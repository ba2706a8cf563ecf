import { Readable } from 'node:stream';
import type { Context } from 'koa';
import type { Items } from '../../../shared/json';
import { readCursor, writeCursor } from '../apps';
import { AppsError } from '../errors';
import type { PageOptions, StoredRecord } from '../records/types';
import type { Exchange } from './exchange';
import { type ListFormat, listFormat } from './negotiate';

/** An entry of a listing or search result (interface.md, 2.1). */
export interface ListEntry {
  path: string;
  id: string;
  items: Items;
}

export function listEntry(exchange: Exchange, record: StoredRecord): ListEntry {
  return { path: recordUrl(exchange, record.id), id: record.id, items: withId(record) };
}

/** "Every returned record's items also contain an `id` entry." */
export function withId(record: StoredRecord): Items {
  return { ...record.items, id: record.id };
}

export function recordUrl({ services, site, app, visit }: Exchange, id: string): string {
  return services.sites.urls.record(site, app.id, id, visit.contentPath);
}

/** Most that one request may ask for by `limit`; without `limit` everything is streamed. */
const MAX_LIMIT = 10_000;

/** Operation 4: the app's records in order of creation, streamed; memory stays flat for any number of records. */
export async function list(exchange: Exchange): Promise<void> {
  const { ctx, services, site, app } = exchange;
  const format = listFormat(ctx);
  const options = pageOptions(ctx.query);
  const key = { site: site.id, app: app.id };
  ctx.type = format;
  ctx.set('Cache-Control', 'private, no-cache');
  if (options.limit !== undefined) {
    const found = await services.store.page(key, { ...options, limit: options.limit + 1 });
    const page = found.slice(0, options.limit);
    const last = page.at(-1);
    if (last && found.length > page.length) ctx.set('Link', nextLink(exchange, options.limit, last.seq));
    return stream(ctx, writers[format](exchange, [page]));
  }
  // The first batch is read before the answer begins, so that a lost database is still a clean error.
  const batches = services.store.stream(key, options)[Symbol.asyncIterator]();
  const first = await batches.next();
  stream(ctx, writers[format](exchange, chain(first, batches)));
}

/** An answer that breaks off must not look like a whole one: its connection is closed. */
function stream(ctx: Context, chunks: AsyncGenerator<string>): void {
  const body = Readable.from(chunks);
  body.once('error', () => ctx.res.destroy());
  ctx.body = body;
}

async function* chain(
  first: IteratorResult<StoredRecord[]>,
  rest: AsyncIterator<StoredRecord[]>,
): AsyncGenerator<StoredRecord[]> {
  for (let batch = first; !batch.done; batch = await rest.next()) yield batch.value;
}

function pageOptions(query: Record<string, unknown>): PageOptions {
  const { cursor } = query;
  if (cursor !== undefined && typeof cursor !== 'string')
    throw badParameter('cursor', 'a cursor given by this service');
  return {
    ...numberOption(query, 'limit', 1, MAX_LIMIT),
    ...numberOption(query, 'offset', 0, Number.MAX_SAFE_INTEGER),
    ...(cursor === undefined ? {} : { after: readCursor(cursor) }),
  };
}

function numberOption(
  query: Record<string, unknown>,
  name: string,
  least: number,
  most: number,
): Record<string, number> {
  const text = query[name];
  if (text === undefined) return {};
  const value = typeof text === 'string' && /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least && value <= most)) throw badParameter(name, `a whole number from ${least} to ${most}`);
  return { [name]: value };
}

function badParameter(name: string, what: string): AppsError {
  return new AppsError('BadRequestError', `The parameter "${name}" must be ${what}`, { details: { parameter: name } });
}

function nextLink({ services, site, app, visit }: Exchange, limit: number, seq: number): string {
  const url = `${services.sites.urls.app(site, app.id, visit.contentPath)}/records`;
  return `<${url}?limit=${limit}&cursor=${writeCursor(seq)}>; rel="next"`;
}

/** One page at hand, or a stream of everything. */
type Batches = StoredRecord[][] | AsyncIterable<StoredRecord[]>;

/** How each media type writes records. */
const writers: Record<ListFormat, (exchange: Exchange, batches: Batches) => AsyncGenerator<string>> = {
  async *'application/json'(exchange, batches) {
    let separator = '[';
    for await (const batch of batches) {
      for (const chunk of chunks(batch.map((record) => JSON.stringify(listEntry(exchange, record))))) {
        yield separator + chunk.join(',');
        separator = ',';
      }
    }
    yield separator === '[' ? '[]' : ']';
  },
  async *'application/x-ndjson'(exchange, batches) {
    for await (const batch of batches) {
      for (const record of batch) yield `${JSON.stringify(listEntry(exchange, record))}\n`;
    }
  },
  async *'text/csv'(exchange, batches) {
    const names = await itemNames(exchange, batches);
    yield csvLine(['id', ...names]);
    for await (const batch of batches) {
      for (const record of batch) yield csvLine([record.id, ...names.map((name) => csvText(record.items, name))]);
    }
  },
};

/** A table names all its columns in its first line: the records are read once more for them, to keep memory flat. */
async function itemNames({ services, site, app }: Exchange, batches: Batches): Promise<string[]> {
  const names = new Set<string>();
  const collect = (batch: StoredRecord[]) => {
    for (const record of batch) for (const name of Object.keys(record.items)) names.add(name);
  };
  if (Array.isArray(batches)) for (const batch of batches) collect(batch);
  else for await (const batch of services.store.stream({ site: site.id, app: app.id })) collect(batch);
  return [...names];
}

function csvText(items: Items, name: string): string {
  const value = Object.hasOwn(items, name) ? items[name] : undefined;
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function* chunks(texts: string[]): Generator<string[]> {
  for (let start = 0; start < texts.length; start += 100) yield texts.slice(start, start + 100);
}

function csvLine(cells: string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/** RFC 4180; a leading `=`, `+`, `-` or `@` of a text is kept from being a formula when a spreadsheet opens the file. */
function csvCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) && !/^-?\d+(\.\d+)?$/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}
