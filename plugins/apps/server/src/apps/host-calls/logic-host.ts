import type { Items, Json } from '../../../../shared/json';
import { AppsError, isBlockFailure, logicError, missing, notFound } from '../../common/errors';
import { hostFunctions } from '../../logic';
import type { HostArguments, HostFunctionName, HostResult, LogicHost, RecordData } from '../../logic/types';
import { isUnavailable } from '../../records';
import type { ReadEnd, StoredRecord } from '../../records/types';
import { trimSlashes } from '../../sites';
import { checkedMail } from '../mail/message';
import { aclData, appData, contentData, recordData } from '../run/context-data';
import { traceLog } from '../run/diagnostics/trace';
import { refuseContent } from '../run/dry';
import { queueMail } from '../run/queue-mail';
import { applyResponse } from '../run/response';
import { nestedRun } from '../run/run';
import type { Run } from '../run/types';
import type { Block } from '../types';
import { blockCalls } from './block-calls';
import { contentCalls } from './content-calls';
import { readCursor, writeCursor } from './cursor';
import { formCalls } from './form-calls';
import { permittedTarget, type Target } from './host-target';

/** Records of one call of `context.app.records()`: without a limit, and with any. */
const DEFAULT_PAGE_SIZE = 100;
const MAX_PAGE_SIZE = 1000;

/** The handlers of host functions, by name; they are called after the check of permissions. */
export type Handlers = {
  [Name in HostFunctionName]: (
    args: HostArguments<Name>,
    target: Target,
  ) => Promise<HostResult<Name>> | HostResult<Name>;
};

/** The host functions for the logic of a block in a run (docs/reference/context.md). */
export function logicHost(run: Run, block: Block): LogicHost {
  let made: Handlers | undefined;
  return contained(run, () => {
    made ??= handlersOf(run, block);
    return made;
  });
}

function handlersOf(run: Run, block: Block): Handlers {
  const site = siteCalls(run);
  return {
    ...recordCalls(run),
    ...listCalls(run),
    ...blockCalls(run),
    ...site.handlers,
    ...contentCalls(run, site.documents),
    ...formCalls(run, block),
    ...mailCalls(run),
  };
}

type RecordCalls = Pick<
  Handlers,
  'getRecord' | 'createRecord' | 'deleteRecord' | 'changeRecord' | 'saveRecord' | 'reindexRecord' | 'displayRecord'
>;

function recordCalls(run: Run): RecordCalls {
  const { unit } = run;
  const { nested } = run.services;
  const existing = async (target: Target, id: string): Promise<StoredRecord> => {
    const record = await unit.get(target.key, id);
    if (!record) throw notFound(missing.record(id, target.key.app));
    return record;
  };
  const data = (target: Target, record: StoredRecord): RecordData => recordData(run, target.run.app, record);

  return {
    async getRecord({ id }, target) {
      // An empty parameter of a request: no record has this id.
      const record = id === '' ? null : await unit.get(target.key, id);
      return record && data(target, record);
    },
    async createRecord({ id }, target) {
      const creator = run.visit.requester.identity || null;
      const fresh = { ...(id === null ? {} : { id, whenTaken: 'number' as const }), items: {}, creator };
      return data(target, await unit.create(target.key, fresh));
    },
    async deleteRecord({ id, on_delete: onDelete }, target) {
      const record = await unit.get(target.key, id);
      if (!record) return false;
      if (!onDelete) return unit.delete(target.key, id);
      await nested.delete(target.run, record);
      return true;
    },
    async changeRecord({ id, change }, target) {
      await existing(target, id);
      return data(target, await unit.update(target.key, id, change));
    },
    async saveRecord({ id, block, creation, form }, target) {
      const record = await existing(target, id);
      const saved = await nested.save(nestedRun(run, target.run.app), record, { block, creation, form });
      return { ...saved, record: data(target, saved.record) };
    },
    async reindexRecord({ id }, target) {
      await existing(target, id);
      await unit.update(target.key, id, {});
      return null;
    },
    async displayRecord({ id, edit }, target) {
      return nested.display(nestedRun(run, target.run.app), await existing(target, id), edit);
    },
  };
}

type ListCalls = Pick<Handlers, 'records' | 'count' | 'search'>;

function listCalls(run: Run): ListCalls {
  return {
    async records({ options: { limit = DEFAULT_PAGE_SIZE, cursor } }, target) {
      const size = Math.min(Math.max(1, Math.floor(limit)), MAX_PAGE_SIZE);
      const after = cursor === undefined ? undefined : readCursor(cursor);
      const found = await run.unit.page(target.key, { limit: size, ...(after === undefined ? {} : { after }) });
      const last = found.at(-1);
      return {
        records: found.map((record) => recordData(run, target.run.app, record)),
        cursor: last && found.length === size ? writeCursor(last.seq) : null,
      };
    },
    async count({ query, names }, target) {
      return run.unit.count(target.key, target.run.app.indexes, query ?? undefined, names ?? undefined, endOf(run));
    },
    async search({ query, options: { sort_index, reverse, limit, offset, names } }, target) {
      const options = { query, sortIndex: sort_index, reverse, limit, offset, names };
      const { records } = await run.unit.search(target.key, target.run.app.indexes, options, endOf(run));
      return records.map((record) => recordData(run, target.run.app, record));
    },
  };
}

function mailCalls(run: Run): Pick<Handlers, 'sendMail'> {
  return {
    async sendMail({ mail }) {
      await queueMail(run, checkedMail(mail));
    },
  };
}

/** Ends a search when the time of the logic is over or the client has left. */
function endOf({ budget, visit }: Run): ReadEnd {
  // A timer may fire a millisecond early: without the extra one the search would fail before the logic times out.
  return { time: Math.ceil(budget.shared.deadline - performance.now()) + 1, signal: visit.signal };
}

interface SiteCalls {
  documents(uid: string, method: string, params: Items): Promise<Json>;
  handlers: Pick<Handlers, 'openApp' | 'portalGet' | 'contentUpdate' | 'documents' | 'log' | 'respond'>;
}

function siteCalls(run: Run): SiteCalls {
  const { visit, services } = run;
  /** Turns errors of Strapi's validation and query builder into a BadRequestError; not those of a lost database. */
  const unreadable = (what: string) => (error: unknown) => {
    if (error instanceof AppsError || isUnavailable(error)) throw error;
    services.logger.warn(`[apps] ${run.app.id}: ${what} failed: ${String(error).slice(0, 1000)}`);
    throw new AppsError('BadRequestError', `${what}: these parameters cannot be carried out`, { cause: error });
  };
  /** Localized content is in the site's locale, unless the call names another. */
  const inSite = (params: Items): Items => ({ ...params, locale: params.locale ?? visit.site.locale });
  const documents = async (uid: string, method: string, params: Items): Promise<Json> => {
    const refused = unreadable(`documents('${uid}').${method}()`);
    // Checks rights and parameters first, so that a refused call opens no transaction.
    const call = services.documents(uid, method, inSite(params), visit.requester).catch(refused);
    const { reads, check, run: carryOut } = await call;
    if (reads) return run.unit.alongside(carryOut).catch(refused);
    requireContentChanges(run);
    if (check) await run.unit.alongside(check);
    countChange(run);
    if (visit.dry) refuseContent(visit.dry, uid, method, params);
    return run.unit.inTransaction(carryOut);
  };
  const handlers: SiteCalls['handlers'] = {
    documents: ({ uid, method, params }) => documents(uid, method, params),
    async openApp({ id }) {
      const app = id === run.app.id ? run.app : await services.loadApp(visit.site, id);
      if (!app) return null;
      const opened = nestedRun(run, app);
      return { ...appData(opened, app), acl: aclData(opened, app, opened.rights) };
    },
    async portalGet({ path }) {
      const contentPath = trimSlashes(path);
      const item = await run.unit.alongside(() =>
        services.sites.content.resolve(visit.site, contentPath, visit.requester),
      );
      return item && contentData(item);
    },
    async contentUpdate({ data }) {
      const { type, documentId, locale, draft, fields } = visit.content;
      if (documentId === null) throw new AppsError('BadRequestError', 'There is no current content item to update');
      // Only events have a draft as their content; it stays a draft.
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
      traceLog(run, entry);
      if (run.app.settings.debug) run.logs.push(entry);
    },
    respond({ changes }) {
      applyResponse(run, changes);
    },
  };
  return { documents, handlers };
}

function requireContentChanges(run: Run): void {
  if (run.visit.writes.content) return;
  throw new AppsError('CsrfError', 'Changing content is restricted to POST requests');
}

function countChange({ changes, services }: Run): void {
  const maxChanges = services.config.limits.contentChanges;
  changes.count += 1;
  if (changes.count > maxChanges) throw logicError(`A request changes content at most ${maxChanges} times`);
}

const interrupted = () => new AppsError('ServiceUnavailableError', 'The request was interrupted');

/**
 * Opens the app that a call addresses, checks the `permission` of the call's row, and passes only safe errors to logic. Any
 * other error (a collision with another request, a lost database) ends the whole attempt, even if the logic catches it.
 * @param handlers makes them at the first call: every session gets the host functions, and many call none
 */
function contained(run: Run, handlers: () => Handlers): LogicHost {
  const settle = (error: unknown): never => {
    if (isBlockFailure(error) || (error instanceof AppsError && error.status < 500)) throw error;
    // After the deadline the session ends by itself with a timeout error.
    if (performance.now() < run.budget.shared.deadline) run.fatal.error ??= error;
    throw interrupted();
  };
  const withPermission = (name: HostFunctionName) => {
    const { permission } = hostFunctions[name];
    const handler = handlers()[name] as (args: object, target: Target) => unknown;
    return async (args: { app?: string | null; id?: unknown }) => {
      if (run.fatal.error !== undefined) throw interrupted();
      try {
        return await handler(args, await permittedTarget(run, permission, args));
      } catch (error) {
        return settle(error);
      }
    };
  };
  return new Proxy({} as LogicHost, { get: (_host, name) => withPermission(name as HostFunctionName) });
}
