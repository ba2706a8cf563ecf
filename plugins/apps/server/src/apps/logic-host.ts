import type { Items, Json } from '../../../shared/json';
import { AppsError } from '../errors';
import type { LogicHost, RecordData } from '../logic/types';
import { isUnavailable } from '../records';
import type { AppKey, ReadEnd, StoredRecord } from '../records/types';
import { trimSlashes } from '../sites';
import { blockCalls } from './block-calls';
import { contentCalls } from './content-calls';
import { aclData, appData, contentData, recordData } from './context-data';
import { readCursor, writeCursor } from './cursor';
import { applyResponse } from './response';
import { keyOf, nestedRun, type Run, refusal } from './run';

/** An app as logic may use it: its own without rights checks, another one with the requester's rights there. */
interface Target {
  run: Run;
  key: AppKey;
  foreign: boolean;
}

/** Records that `context.app.records()` gives at once when no limit is named, and at most. */
const PAGE = { usual: 100, most: 1000 };

/** What logic of a run may ask of the server (contract, section 8). */
export function logicHost(run: Run): LogicHost {
  const blocks = blockCalls(
    run,
    (app) => openTarget(run, app),
    () => requireWrites(run),
  );
  const site = siteCalls(run);
  const content = contentCalls(run, site.documents);
  return contained(run, { ...recordCalls(run), ...listCalls(run), ...site, ...blocks, ...content });
}

type RecordCalls = Pick<
  LogicHost,
  'getRecord' | 'createRecord' | 'deleteRecord' | 'changeRecord' | 'saveRecord' | 'reindexRecord' | 'displayRecord'
>;

function recordCalls(run: Run): RecordCalls {
  const { unit } = run;
  const { nested } = run.services;
  const existing = async (target: Target, id: string): Promise<StoredRecord> => {
    const record = await unit.get(target.key, id);
    if (!record) throw new AppsError('NotFoundError', `There is no record "${id}" in the app "${target.key.app}"`);
    return record;
  };
  const changeable = async (app: string | null, id: string): Promise<[Target, StoredRecord]> => {
    const target = await openTarget(run, app);
    requireWrites(run);
    const record = await existing(target, id);
    if (target.foreign && !target.run.rights.edit(record.creator)) throw refused(run, target, 'change records');
    return [target, record];
  };
  const data = (target: Target, record: StoredRecord): RecordData => recordData(run, target.run.app, record);

  return {
    async getRecord(app, id) {
      const target = await openTarget(run, app);
      if (target.foreign && !target.run.rights.view) throw refused(run, target, 'see records');
      // No record has this id: a parameter that was not given means none.
      const record = id === '' ? null : await unit.get(target.key, id);
      return record && data(target, record);
    },
    async createRecord(app, id) {
      const target = await openTarget(run, app);
      requireWrites(run);
      if (target.foreign && !target.run.rights.create) throw refused(run, target, 'add records');
      const creator = run.visit.requester.identity || null;
      const fresh = { ...(id === null ? {} : { id, whenTaken: 'number' as const }), items: {}, creator };
      return data(target, await unit.create(target.key, target.run.app.indexes, fresh));
    },
    async deleteRecord(app, id, onDelete) {
      const target = await openTarget(run, app);
      requireWrites(run);
      const record = await unit.get(target.key, id);
      if (!record) return false;
      if (target.foreign && !target.run.rights.delete(record.creator)) throw refused(run, target, 'delete records');
      if (!onDelete) return unit.delete(target.key, id);
      await nested.delete(target.run, record);
      return true;
    },
    async changeRecord(app, id, change) {
      const [target] = await changeable(app, id);
      return data(target, await unit.update(target.key, target.run.app.indexes, id, change));
    },
    async saveRecord(app, id, options) {
      const [target, record] = await changeable(app, id);
      const saved = await nested.save(nestedRun(run, target.run.app), record, options);
      return { ...saved, record: data(target, saved.record) };
    },
    async reindexRecord(app, id) {
      const [target] = await changeable(app, id);
      await unit.update(target.key, target.run.app.indexes, id, {});
      return null;
    },
    async displayRecord(app, id, edit) {
      const target = await openTarget(run, app);
      if (target.foreign && !target.run.rights.view) throw refused(run, target, 'see records');
      return nested.display(nestedRun(run, target.run.app), await existing(target, id), edit);
    },
  };
}

type ListCalls = Pick<LogicHost, 'records' | 'count' | 'search'>;

function listCalls(run: Run): ListCalls {
  const readable = async (app: string | null): Promise<Target> => {
    const target = await openTarget(run, app);
    if (target.foreign && !target.run.rights.view) throw refused(run, target, 'see records');
    return target;
  };
  return {
    async records(app, { limit = PAGE.usual, cursor }) {
      const target = await readable(app);
      const size = Math.min(Math.max(1, Math.floor(limit)), PAGE.most);
      const after = cursor === undefined ? undefined : readCursor(cursor);
      const found = await run.unit.page(target.key, { limit: size, ...(after === undefined ? {} : { after }) });
      const last = found.at(-1);
      return {
        records: found.map((record) => recordData(run, target.run.app, record)),
        cursor: last && found.length === size ? writeCursor(last.seq) : null,
      };
    },
    async count(app, query, names) {
      const target = await readable(app);
      return run.unit.count(target.key, target.run.app.indexes, query ?? undefined, names ?? undefined, endOf(run));
    },
    async search(app, query, { sort_index, reverse, limit, offset, names }) {
      const target = await readable(app);
      const options = { query, sortIndex: sort_index, reverse, limit, offset, names };
      const { records } = await run.unit.search(target.key, target.run.app.indexes, options, endOf(run));
      return records.map((record) => recordData(run, target.run.app, record));
    },
  };
}

/** A search is of no use to logic whose time is over, nor to a client that has left. */
function endOf({ budget, visit }: Run): ReadEnd {
  // A timer may fire a millisecond early; then the search would have failed before the time of the logic was over.
  return { time: Math.ceil(budget.deadline - performance.now()) + 1, signal: visit.signal };
}

type SiteCalls = Pick<LogicHost, 'openApp' | 'portalGet' | 'contentUpdate' | 'documents' | 'log' | 'respond'>;

function siteCalls(run: Run): SiteCalls {
  const { visit, services } = run;
  /** What neither Strapi's validation nor its query builder could make anything of; a lost database is another matter. */
  const unreadable = (what: string) => (error: unknown) => {
    if (error instanceof AppsError || isUnavailable(error)) throw error;
    services.logger.warn(`[apps] ${run.app.id}: ${what} failed: ${String(error).slice(0, 1000)}`);
    throw new AppsError('BadRequestError', `${what}: these parameters cannot be carried out`, { cause: error });
  };
  /** Localized content is in the site's locale, unless the call names another. */
  const inSite = (params: Items): Items => ({ ...params, locale: params.locale ?? visit.site.locale });
  const documents = async (uid: string, method: string, params: Items): Promise<Json> => {
    const refused = unreadable(`documents('${uid}').${method}()`);
    // Rights and parameters come first: what is refused opens no transaction.
    const call = services.documents(uid, method, inSite(params), visit.requester).catch(refused);
    const { reads, check, run: carryOut } = await call;
    if (reads) return run.unit.alongside(carryOut).catch(refused);
    requireContentChanges(run);
    if (check) await run.unit.alongside(check);
    countChange(run);
    return run.unit.inTransaction(carryOut);
  };
  return {
    documents,
    async openApp(id) {
      const app = id === run.app.id ? run.app : await services.loadApp(visit.site, id);
      if (!app) return null;
      const opened = nestedRun(run, app);
      return { ...appData(opened, app), acl: aclData(opened, app, opened.rights) };
    },
    async portalGet(path) {
      const place = trimSlashes(path);
      const item = await run.unit.alongside(() => services.sites.content.resolve(visit.site, place, visit.requester));
      return item && contentData(item);
    },
    async contentUpdate(data) {
      const { type, documentId, locale, draft, fields } = visit.content;
      if (documentId === null) throw new AppsError('BadRequestError', 'There is no current content item to update');
      // A draft, which only events have, stays one.
      const version = { ...(locale && { locale }), ...(draft && { status: 'draft' }) };
      const updated = await documents(type, 'update', { documentId, data, ...version });
      const { content } = services.sites;
      const find = () => content.find(visit.site, { uid: type, documentId, locale }, visit.requester);
      const item = draft
        ? await content.describe(visit.site, type, { ...fields, ...(updated as Items) }, { draft })
        : await run.unit.alongside(find);
      return contentData(item ?? visit.content);
    },
    log(entry) {
      if (run.app.settings.debug) run.logs.push(entry);
    },
    respond(changes) {
      applyResponse(run, changes);
    },
  };
}

async function openTarget(run: Run, appId: string | null): Promise<Target> {
  if (appId === null || appId === run.app.id) return { run, key: keyOf(run), foreign: false };
  const app = await run.services.loadApp(run.visit.site, appId);
  if (!app) throw new AppsError('NotFoundError', `There is no app "${appId}" in this site`);
  if (app.error) throw app.error;
  const other = nestedRun(run, app);
  return { run: other, key: keyOf(other), foreign: true };
}

function refused(run: Run, target: Target, what: string): AppsError {
  return refusal(run.visit.requester, `${what} of the app "${target.key.app}"`);
}

function requireWrites(run: Run): void {
  if (run.visit.writes.records) return;
  throw new AppsError('CsrfError', 'Writing records during a GET request needs a valid X-CSRF-TOKEN header');
}

function requireContentChanges(run: Run): void {
  if (run.visit.writes.content) return;
  throw new AppsError('CsrfError', 'Changing content is restricted to POST requests');
}

function countChange({ changes, services }: Run): void {
  const most = services.config.limits.contentChanges;
  changes.count += 1;
  if (changes.count > most) throw new AppsError('LogicError', `A request changes content at most ${most} times`);
}

/**
 * Lets only safe errors reach logic. Anything else (a collision with another request, a lost database) ends the whole
 * attempt, whether or not the logic catches what it is told.
 */
function contained(run: Run, host: LogicHost): LogicHost {
  const settle = (error: unknown): never => {
    if (error instanceof AppsError && error.status < 500) throw error;
    if (error instanceof AppsError && (error.name === 'LogicError' || error.name === 'DefinitionError')) throw error;
    // Once the time is over, the session ends by itself, with the error that says so.
    if (performance.now() < run.budget.deadline) run.fatal.error ??= error;
    throw new AppsError('ServiceUnavailableError', 'The request was interrupted');
  };
  const guard = (method: (...args: never[]) => unknown) => {
    return (...args: never[]) => {
      if (run.fatal.error !== undefined) throw new AppsError('ServiceUnavailableError', 'The request was interrupted');
      try {
        const result = method(...args);
        return result instanceof Promise ? result.catch(settle) : result;
      } catch (error) {
        return settle(error);
      }
    };
  };
  return Object.fromEntries(
    Object.entries(host).map(([name, method]) => [name, guard(method)]),
  ) as unknown as LogicHost;
}
