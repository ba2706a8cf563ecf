import { type Items, isItems, type Json } from '../../../../shared/json';
import {
  computeElement,
  confirmedOnly,
  createMany,
  createRecord,
  declaredCells,
  knownLink,
  permittedBlock,
  provenanceOf,
  type Ran,
  type Run,
  removeRecord,
  requireRight,
  shownElement,
  shownRecords,
  shownSettings,
  unlessHidden,
  updateRecord,
  withRun,
} from '../../apps';
import { seesRecords } from '../../auth';
import { AppsError, missing, notFound } from '../../common/errors';
import { readParameters, validateBody } from '../../common/validation';
import { isUnconfirmed } from '../../indexes';
import type { SearchOptions } from '../../indexes/types';
import { changedBy } from '../../records';
import type { StoredRecord } from '../../records/types';
import { hasBody, jsonObject, SentBytes } from '../request/body';
import type { Exchange, TargetOf } from '../request/exchange';
import { fileFormat } from '../request/negotiate';
import { refreshBody, requireKnownOperators, searchBody, searchParameters } from '../request/operations';
import {
  answerTyped,
  answerUnchanged,
  applyLogicResponse,
  etagOf,
  ifMatch,
  setCacheHeaders,
} from '../response/logic-response';
import { withItems } from './bulk';
import { requireJsonMove, requireJsonUseOf } from './json-use';
import { begunOnce, doneOnce, namedRequest } from './kept-answers';
import { array, list, recordUrl, type TableFile, table, withId } from './list';
import { ownLinkKey, stateKey } from './page-handlers';

type RecordExchange = Exchange<TargetOf<'record'>>;

/** Operation 1. While indexes are built, managers get the progress: records done, of all. */
export async function getSettings({ ctx, services, site, app, rights, requester, visit }: Exchange): Promise<void> {
  if (app.error) throw app.error;
  const progress = rights.manager ? await services.store.progress({ site: site.id, app: app.id }) : null;
  if (progress) ctx.set('X-Index-Progress', `${progress.done}/${progress.total}`);
  const settings = shownSettings(app, rights.manager);
  ctx.set('x-csrf-token', services.requesters.csrf.issue(requester, visit.visitor?.id()));
  ctx.set('Cache-Control', 'private, no-store');
  ctx.body = Object.keys(settings).length > 0 ? settings : { no_settings: {} };
}

/** `GET <app>/blocks/<block_id>` as JSON: the block's definition, with `notify` for managers only. */
export async function getBlock(exchange: Exchange<TargetOf<'block'>>): Promise<void> {
  const { source } = permittedBlock(exchange, exchange.target.block).definition;
  const { states } = source;
  const shown = { ...withoutNotify(source), ...(isItems(states) && { states: eachWithoutNotify(states) }) };
  // It depends on the requester, as the block's page does.
  exchange.ctx.set('Cache-Control', 'private, no-store');
  exchange.ctx.body = exchange.rights.manager ? source : shown;
}

/** It names recipients of mails. */
const withoutNotify = ({ notify: _hidden, ...shown }: Items): Items => shown;

const eachWithoutNotify = (states: Items): Items =>
  Object.fromEntries(Object.entries(states).map(([name, one]) => [name, isItems(one) ? withoutNotify(one) : one]));

/** Operation 2. */
export async function getElement(exchange: Exchange<TargetOf<'element'>>): Promise<void> {
  const { ctx } = exchange;
  if (ctx.method === 'POST') jsonObject(ctx);
  answerElement(exchange, ctx.method === 'POST' ? await postedElement(exchange) : await gottenElement(exchange));
}

/** Answers with the value of an element's function as JSON, or in the media type that logic has set. */
export function answerElement(exchange: Exchange, done: Ran<{ value: Json }>): void {
  const { ctx } = exchange;
  const { value } = done.value;
  if (done.response.type) answerTyped(exchange, done.response.type, value);
  else {
    // Koa answers null with an empty 204: so the body is a string.
    ctx.type = 'application/json';
    ctx.set('Cache-Control', 'private, no-store');
    ctx.body = JSON.stringify(value);
  }
  applyLogicResponse(exchange, done);
}

/** An action that a client sends again under the same key is done once. */
function postedElement(exchange: Exchange<TargetOf<'element'>>): Promise<Ran<{ value: Json }>> {
  const { services, visit, app, target } = exchange;
  const compute = (run: Run) => computeElement(run, permittedBlock(run, target.block), target.element);
  return doneOnce(exchange, namedRequest(exchange), (keeps) => withRun(services, visit, app, compute, keeps));
}

async function gottenElement({ ctx, services, visit, app, target }: Exchange<TargetOf<'element'>>) {
  const { ran, cache } = await shownElement(services, visit, app, target);
  if (app.settings.debug) setCacheHeaders(ctx, cache);
  return ran;
}

/** Operation 3. */
export async function getRecord(exchange: RecordExchange): Promise<void> {
  const { ctx, services, site, app, rights, target } = exchange;
  requireRight(exchange, seesRecords(rights), 'see records');
  const found = await services.store.get({ site: site.id, app: app.id }, target.id, rights.viewOwn ?? undefined);
  const record = unlessHidden({ app, rights }, found);
  if (!record) throw notFound(missing.record(target.id, app.id));
  ctx.set('Cache-Control', 'private, no-cache');
  const [shown = record] = await shownRecords(services.files, { site: site.id, app: app.id }, [record]);
  // The address of a file changes without its record: a client never keeps the old one.
  if (shown !== record) ctx.set('ETag', etagOf(record));
  else if (answerUnchanged(ctx, etagOf(record))) return;
  ctx.body = withId(shown);
}

/** Operation 4. */
export async function getRecords(exchange: Exchange): Promise<void> {
  requireRight(exchange, seesRecords(exchange.rights), 'see records');
  await list(exchange);
}

/** Operation 4 by a plain link: a table as a file, with the same parameters. */
export const getRecordsFile = (file: TableFile) => async (exchange: Exchange) => {
  requireRight(exchange, seesRecords(exchange.rights), 'see records');
  await list(exchange, file);
  asDownload(exchange, 'records', file);
};

/** A browser keeps the table as a file instead of showing it. Set last: an error is shown. */
function asDownload({ ctx, app }: Exchange, what: string, file: TableFile): void {
  ctx.set('Content-Disposition', `attachment; filename="${app.id}-${what}.${file}"`);
  ctx.set('X-Content-Type-Options', 'nosniff');
}

/** Operations 5 and 7. */
export async function postRecord(exchange: Exchange): Promise<void> {
  await create(exchange, requiredObject(exchange));
}

export async function putRecord(exchange: RecordExchange): Promise<void> {
  await create(exchange, requiredObject(exchange), exchange.target.id);
}

async function create(exchange: Exchange, items: Items, pathId?: string): Promise<void> {
  const { ctx, services, visit, app } = exchange;
  const work = async (run: Run) => {
    const { id, items: stored } = await createRecord(run, items, pathId);
    return { id, link: knownLink(run, id), isUnconfirmed: isUnconfirmed(stored) };
  };
  const done = await doneOnce(exchange, namedRequest(exchange), (keeps) => withRun(services, visit, app, work, keeps));
  const { id, link } = done.value;
  const path = recordUrl(exchange, id);
  ctx.status = 201;
  ctx.set('Location', path);
  ctx.body = { path, id, ...ownLinkKey(exchange, link), ...stateKey(done.value), success: 'created' };
}

/** Operation 6. */
export async function postRecords(exchange: Exchange): Promise<void> {
  const { ctx, services, site, visit, app, rights } = exchange;
  // Before the body is read, so that a client without the right cannot fill the disk.
  requireRight(exchange, rights.create, 'add records');
  const { limits, temporaryDirectory: folder } = services.config;
  // Who is trusted with all records may import them.
  const maxRecords = rights.viewAll || rights.edit(null) ? null : limits.submittedRecords;
  const readSheet = (bytes: AsyncIterable<Uint8Array>, name: string | undefined) =>
    services.sheets.read(`${site.id}/${app.id}`, bytes, name);
  const format = fileFormat(ctx);
  const file = format ? { format, bytes: new SentBytes(ctx.req) } : null;
  const options = { maxLine: limits.bodySize, maxRecords, folder, declared: () => declaredCells(app), readSheet };
  const total = await begunOnce(exchange, namedRequest(exchange, file?.bytes), (once) =>
    withItems(ctx, file, options, (source) => once(() => createMany(services, visit, app, source))),
  );
  ctx.status = 201;
  ctx.body = { total, success: 'created' };
}

/** Operation 8. */
export async function deleteRecord(exchange: RecordExchange): Promise<void> {
  const { ctx, services, visit, app, target } = exchange;
  const remove = async (run: Run) => {
    await requireJsonUseOf(run, exchange, 'delete', target.id);
    await removeRecord(run, target.id, ifMatch(ctx));
    return null;
  };
  await doneOnce(exchange, namedRequest(exchange), (keeps) =>
    withRun(services, visit, app, remove, { recordId: target.id, ...keeps }),
  );
  ctx.body = { success: 'deleted' };
}

/** Operation 9. */
export async function deleteRecords(exchange: Exchange): Promise<void> {
  const { ctx, services, site, visit, app, rights } = exchange;
  requireRight(exchange, rights.deleteAll, 'delete all records');
  const key = { site: site.id, app: app.id };
  await changedBy(provenanceOf(visit), () => services.store.clear(key));
  await services.files.release(key);
  ctx.body = { success: 'deleted' };
}

/** Operation 10. */
export async function patchRecord(exchange: RecordExchange): Promise<void> {
  const { ctx, services, visit, app, target } = exchange;
  const body = requiredObject(exchange);
  requireKnownOperators(body);
  const update = async (run: Run) => {
    await requireJsonUseOf(run, exchange, 'edit', target.id);
    await requireJsonMove(run, exchange, target.id, body);
    await updateRecord(run, target.id, body, ifMatch(ctx));
    return null;
  };
  await doneOnce(exchange, namedRequest(exchange), (keeps) =>
    withRun(services, visit, app, update, { recordId: target.id, ...keeps }),
  );
  ctx.body = { success: 'updated' };
}

/** Records that a search without `limit` returns (docs/reference/json-interface.md#search-results). */
const MAX_FOUND = 10_000;

/** Operation 11. If a search without `limit` finds more than it returns, `X-Total-Count` and `Link` say so. */
export async function postSearch(exchange: Exchange): Promise<void> {
  const { ctx, rights } = exchange;
  requireRight(exchange, seesRecords(rights), 'search records');
  await array(exchange, await search(exchange, validateBody(searchBody, jsonObject(ctx))));
}

/** Operation 11 by a plain link. The keys of the body are parameters, `names` as JSON. */
export async function getSearch(exchange: Exchange): Promise<void> {
  const { ctx, rights } = exchange;
  requireRight(exchange, seesRecords(rights), 'search records');
  await array(exchange, await search(exchange, readParameters(searchParameters, ctx.query)));
}

/** The same as a table in a file. */
export const getSearchFile = (file: TableFile) => async (exchange: Exchange) => {
  const { ctx, rights } = exchange;
  requireRight(exchange, seesRecords(rights), 'search records');
  const found = await search(exchange, readParameters(searchParameters, ctx.query));
  await table(exchange, found, file);
  asDownload(exchange, 'search', file);
};

async function search(exchange: Exchange, asked: SearchOptions): Promise<StoredRecord[]> {
  const { ctx, services, site, app, visit, rights } = exchange;
  const own = rights.viewOwn === null ? {} : { creator: rights.viewOwn };
  const options = { ...asked, ...own, ...confirmedOnly({ app, rights }) };
  const key = { site: site.id, app: app.id };
  const end = { signal: visit.signal };
  const result = await services.store.search(key, app.indexes, options, end);
  const isCut = options.limit === undefined && result.found === MAX_FOUND;
  if (options.withTotal || isCut) {
    const total = result.total ?? (await services.store.count(key, app.indexes, options.query, options, end));
    const next = (options.offset ?? 0) + result.found;
    ctx.set('X-Total-Count', String(total));
    if (isCut && total > next) ctx.set('Link', `<${nextSearch(exchange, next)}>; rel="next"; offset="${next}"`);
  }
  return result.records;
}

/** The address of the rest of a search; that of a plain link has its parameters, with the next offset. */
function nextSearch({ ctx, services, site, app, visit, target }: Exchange, offset: number): string {
  const url = `${services.sites.urls.app(site, app.id, visit.contentPath)}/${target.kind}`;
  if (target.kind === 'search' && ctx.method === 'POST') return url;
  const parameters = new URLSearchParams(ctx.querystring);
  parameters.set('offset', String(offset));
  return `${url}?${parameters}`;
}

/** Operation 12. */
export async function postRefresh(exchange: Exchange): Promise<void> {
  const { ctx, services, site, app, rights } = exchange;
  requireRight(exchange, rights.manager, 'rebuild the indexes');
  const { rebuild } = validateBody(refreshBody, jsonObject(ctx));
  const indexes = await services.store.refresh({ site: site.id, app: app.id }, app.indexes, { rebuild });
  ctx.body = { success: 'refresh', indexes };
}

function requiredObject({ ctx }: Exchange): Items {
  if (!hasBody(ctx)) throw new AppsError('BadRequestError', 'The body must be a JSON object of items');
  return jsonObject(ctx);
}
