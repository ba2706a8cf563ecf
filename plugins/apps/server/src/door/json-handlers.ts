import type { Items, Json } from '../../../shared/json';
import {
  computeElement,
  createMany,
  createRecord,
  permittedBlock,
  publicSettings,
  removeRecord,
  requireRight,
  updateRecord,
  withRun,
} from '../apps';
import { AppsError } from '../errors';
import type { SearchOptions } from '../indexes/types';
import { hasBody, jsonObject } from './body';
import { withItems } from './bulk';
import { answerUnchanged, ifMatch } from './etag';
import type { Exchange, TargetOf } from './exchange';
import { list, listEntry, recordUrl, withId } from './list';
import { answerTyped, applyLogicResponse } from './logic-response';

type RecordExchange = Exchange<TargetOf<'record'>>;

/** Operation 1. Managers are told how far the building of indexes is, while there is one: records done, of all. */
export async function getSettings({ ctx, services, site, app, rights, requester }: Exchange): Promise<void> {
  if (app.error) throw app.error;
  const progress = rights.manager ? await services.store.progress({ site: site.id, app: app.id }) : null;
  if (progress) ctx.set('X-Index-Progress', `${progress.done}/${progress.total}`);
  const settings = publicSettings(app, rights.manager);
  ctx.set('x-csrf-token', services.requesters.csrf.issue(requester));
  ctx.set('Cache-Control', 'private, no-store');
  ctx.body = Object.keys(settings).length > 0 ? settings : { no_settings: {} };
}

/** `GET <app>/blocks/<block_id>` as JSON: the block's definition. */
export async function getBlock(exchange: Exchange<TargetOf<'block'>>): Promise<void> {
  exchange.ctx.body = permittedBlock(exchange, exchange.target.block).definition.source;
}

/** Operation 2. */
export async function getElement(exchange: Exchange<TargetOf<'element'>>): Promise<void> {
  const { ctx, services, visit, app, target } = exchange;
  if (ctx.method === 'POST') jsonObject(ctx);
  const done = await withRun(services, visit, app, (run) =>
    computeElement(run, permittedBlock(run, target.block), target.element),
  );
  const { value } = done.value;
  if (done.response.type) answerTyped(exchange, done.response.type, value);
  else {
    // Koa makes an empty 204 of null: the body is written out here.
    ctx.type = 'application/json';
    ctx.body = JSON.stringify(value);
  }
  applyLogicResponse(exchange, done);
}

/** Operation 3. */
export async function getRecord(exchange: RecordExchange): Promise<void> {
  const { ctx, services, site, app, rights, target } = exchange;
  requireRight(exchange, rights.view, 'see records');
  const record = await services.store.get({ site: site.id, app: app.id }, target.id);
  if (!record) throw new AppsError('NotFoundError', `There is no record "${target.id}" in the app "${app.id}"`);
  ctx.set('Cache-Control', 'private, no-cache');
  if (answerUnchanged(ctx, record)) return;
  ctx.body = withId(record);
}

/** Operation 4. */
export async function getRecords(exchange: Exchange): Promise<void> {
  requireRight(exchange, exchange.rights.view, 'see records');
  await list(exchange);
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
  const done = await withRun(services, visit, app, (run) => createRecord(run, items, pathId));
  const { id } = done.value;
  const path = recordUrl(exchange, id);
  ctx.status = 201;
  ctx.set('Location', path);
  ctx.body = { path, id, success: 'created' };
}

/** Operation 6. */
export async function postRecords(exchange: Exchange): Promise<void> {
  const { ctx, services, visit, app, rights } = exchange;
  // Before the body: nobody without the right fills the disk.
  requireRight(exchange, rights.create, 'add records');
  const { limits, temporaryDirectory: folder } = services.config;
  const total = await withItems(ctx, { lineLimit: limits.bodySize, folder }, (source) =>
    createMany(services, visit, app, source),
  );
  ctx.status = 201;
  ctx.body = { total, success: 'created' };
}

/** Operation 8. */
export async function deleteRecord(exchange: RecordExchange): Promise<void> {
  const { ctx, services, visit, app, target } = exchange;
  await withRun(services, visit, app, (run) => removeRecord(run, target.id, ifMatch(ctx)), target.id);
  ctx.body = { success: 'deleted' };
}

/** Operation 9. */
export async function deleteRecords(exchange: Exchange): Promise<void> {
  const { ctx, services, site, app, rights } = exchange;
  requireRight(exchange, rights.deleteAll, 'delete all records');
  await services.store.clear({ site: site.id, app: app.id });
  ctx.body = { success: 'deleted' };
}

/** Operation 10. */
export async function patchRecord(exchange: RecordExchange): Promise<void> {
  const { ctx, services, visit, app, target } = exchange;
  const body = requiredObject(exchange);
  await withRun(services, visit, app, (run) => updateRecord(run, target.id, body, ifMatch(ctx)), target.id);
  ctx.body = { success: 'updated' };
}

/** Records that a search gives when it names no `limit` (contract, section 9). */
const MAX_FOUND = 10_000;

const searchUrl = ({ services, site, app, visit }: Exchange) =>
  `${services.sites.urls.app(site, app.id, visit.contentPath)}/search`;

/** Operation 11. A search without `limit` that has more than it gives says so by `X-Total-Count` and `Link`. */
export async function postSearch(exchange: Exchange): Promise<void> {
  const { ctx, services, site, app, rights, visit } = exchange;
  requireRight(exchange, rights.view, 'search records');
  const options = searchOptions(jsonObject(ctx));
  const key = { site: site.id, app: app.id };
  const end = { signal: visit.signal };
  const found = await services.store.search(key, app.indexes, options, end);
  const { length } = found.records;
  const isCut = options.limit === undefined && length === MAX_FOUND;
  if (options.withTotal || isCut) {
    const total = found.total ?? (await services.store.count(key, app.indexes, options.query, options.names, end));
    const next = (options.offset ?? 0) + length;
    ctx.set('X-Total-Count', String(total));
    if (isCut && total > next) ctx.set('Link', `<${searchUrl(exchange)}>; rel="next"; offset="${next}"`);
  }
  ctx.set('Cache-Control', 'private, no-store');
  ctx.body = found.records.map((record) => listEntry(exchange, record));
}

/** Operation 12. */
export async function postRefresh(exchange: Exchange): Promise<void> {
  const { ctx, services, site, app, rights } = exchange;
  requireRight(exchange, rights.manager, 'rebuild the indexes');
  const { rebuild = false, ...unknown } = jsonObject(ctx);
  if (typeof rebuild !== 'boolean') throw badKey('rebuild', 'true or false');
  refuseUnknown(unknown, ['rebuild']);
  const indexes = await services.store.refresh({ site: site.id, app: app.id }, app.indexes, { rebuild });
  ctx.body = { success: 'refresh', indexes };
}

function requiredObject({ ctx }: Exchange): Items {
  if (!hasBody(ctx)) throw new AppsError('BadRequestError', 'The body must be a JSON object of items');
  return jsonObject(ctx);
}

/** Body keys of operation 11: what each must be, and the option that it sets. */
const searchKeys: Record<string, { option: keyof SearchOptions; must: string; test(value: Json): boolean }> = {
  query: { option: 'query', must: 'a string', test: (value) => typeof value === 'string' },
  sort_index: { option: 'sortIndex', must: 'a string', test: (value) => typeof value === 'string' },
  reverse: { option: 'reverse', must: 'true or false', test: (value) => typeof value === 'boolean' },
  limit: { option: 'limit', must: 'a whole number, 0 or more', test: isCount },
  offset: { option: 'offset', must: 'a whole number, 0 or more', test: isCount },
  names: { option: 'names', must: 'an object', test: isObject },
  with_total: { option: 'withTotal', must: 'true or false', test: (value) => typeof value === 'boolean' },
};

function searchOptions(body: Items): SearchOptions {
  const options: Record<string, Json> = {};
  for (const [name, value] of Object.entries(body)) {
    const key = Object.hasOwn(searchKeys, name) ? searchKeys[name] : undefined;
    if (!key) refuseUnknown({ [name]: value }, Object.keys(searchKeys));
    else if (value !== null && !key.test(value)) throw badKey(name, key.must);
    else if (value !== null) options[key.option] = value;
  }
  return options as SearchOptions;
}

function isCount(value: Json): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isObject(value: Json): boolean {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function refuseUnknown(unknown: object, known: string[]): void {
  const [name] = Object.keys(unknown);
  if (name === undefined) return;
  throw new AppsError('BadRequestError', `Unknown key "${name}" in the body; known are ${known.join(', ')}`, {
    details: { key: name },
  });
}

function badKey(name: string, must: string): AppsError {
  return new AppsError('BadRequestError', `"${name}" must be ${must}`, { details: { key: name } });
}
