import { AppsError, missing, notFound } from '../../common/errors';
import { recordIdProblem } from '../../common/record-id';
import { OwnValue } from '../../common/request-objects';
import { didYouMean } from '../../common/text';
import { MAX_SEQ } from '../../database';
import { JsonText, remainingTime } from '../../logic';
import type { CreatorData, RecordData } from '../../logic/types';
import { storedJson } from '../../records';
import type { ReadEnd, StoredRecord } from '../../records/types';
import { recordData, recordUrl } from '../run/context-data';
import { confirmedOnly, onlyOf, visibleIn } from '../run/element-data';
import { shownInRun, shownRecord } from '../run/files';
import { wholly } from '../run/refusals';
import { nestedRun } from '../run/run';
import type { Run } from '../run/types';
import { makerOf, ownerOf } from '../run/visits';
import type { App } from '../types';
import type { AddressedApp, HostCallHandlers } from './logic-host';

/** An opaque position in an app's records in order of creation. */
export function writeCursor(seq: number): string {
  return Buffer.from(`s${seq}`).toString('base64url');
}

/** The `seq` of a cursor; BadRequestError for a text that `writeCursor` has not made. */
export function readCursor(cursor: string): number {
  const [, digits = Infinity] = /^s(\d+)$/.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? [];
  const seq = Number(digits);
  if (seq > MAX_SEQ) throw new AppsError('BadRequestError', 'The cursor is not one that this service gave');
  return seq;
}

/** Records of one call of `context.app.records()`: without a limit, and with any. */
const DEFAULT_PAGE_SIZE = 100;
const MAX_PAGE_SIZE = 1000;

type RecordCalls = Pick<
  HostCallHandlers,
  | 'getRecord'
  | 'recordCreator'
  | 'createRecord'
  | 'deleteRecord'
  | 'changeRecord'
  | 'saveRecord'
  | 'reindexRecord'
  | 'displayRecord'
>;

/** The record that a call names; null for one that the call does not see, and for an id that no record can have. */
export async function recordOf({ run, key, creator }: AddressedApp, id: string): Promise<StoredRecord | null> {
  return recordIdProblem(id) ? null : visibleIn(run, await run.unit.get(key, id, creator));
}

/** Host functions for one record of the app that the call addresses. */
export function recordCalls(run: Run): RecordCalls {
  const { unit } = run;
  const { nested } = run.services;
  const existing = async (target: AddressedApp, id: string): Promise<StoredRecord> => {
    const record = await recordOf(target, id);
    if (!record) throw notFound(missing.record(id, target.key.app));
    return record;
  };
  const data = async (target: AddressedApp, record: StoredRecord): Promise<RecordData> =>
    recordData(run, target.run.app, await shownRecord(run, record, target.run.app.id));

  return {
    async getRecord({ id }, target) {
      const record = await recordOf(target, id);
      return record && new JsonText(dataJson(run, target.run.app, await shownRecord(run, record, target.run.app.id)));
    },
    async recordCreator({ id }, target) {
      const record = await recordOf(target, id);
      return record?.creator ? accountOf(run, record.creator) : null;
    },
    async createRecord({ id }, target) {
      const creator = makerOf({ visit: run.visit, app: target.run.app });
      const fresh = { ...(id === null ? {} : { id, whenTaken: 'number' as const }), items: {}, creator };
      return data(target, await unit.create(target.key, fresh));
    },
    async deleteRecord({ id, on_delete: onDelete }, target) {
      const record = await recordOf(target, id);
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
      const request = { block, creation, form };
      const saved = await wholly(run, async () => nested.save(nestedRun(run, target.run.app), record, request));
      return { ...saved, record: await data(target, saved.record) };
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

/** Accounts of creators in one attempt at a request: a list of records asks once for each. */
const accounts = new OwnValue<Run['unit'], Map<string, Promise<CreatorData | null>>>('accounts');

/** The account of an identity; null for one that no longer exists. */
function accountOf({ unit, services }: Run, identity: string): Promise<CreatorData | null> {
  const known = accounts.getOrMake(unit, () => new Map());
  const read = async (): Promise<CreatorData | null> => {
    const account = (await unit.alongside(() => services.creators([identity]))).get(identity);
    // A user's id is the one of Strapi's documents; other accounts have no such id.
    return account && account.path !== null ? { id: identity.replace(/^user:/, ''), username: account.name } : null;
  };
  const account = known.get(identity) ?? read();
  known.set(identity, account);
  return account;
}

type ListCalls = Pick<HostCallHandlers, 'records' | 'count' | 'search'>;

/** Host functions for many records of the app that the call addresses. */
export function listCalls(run: Run): ListCalls {
  return {
    async records({ options: { limit = DEFAULT_PAGE_SIZE, cursor, own } }, target) {
      const size = Math.min(Math.max(1, Math.floor(limit)), MAX_PAGE_SIZE);
      const after = cursor === undefined ? undefined : readCursor(cursor);
      const { records, next } = await run.unit.page(target.key, {
        limit: size,
        ...(after === undefined ? {} : { after }),
        only: onlyOf(target.run.app, { ...creatorOf(run, target, own), ...confirmedOnly(target.run) }),
      });
      const rest = next === undefined ? null : writeCursor(next);
      return new JsonText(`{"records":${await listJson(run, target, records)},"cursor":${JSON.stringify(rest)}}`);
    },
    async count({ query, names, own, block }, target) {
      const options = {
        ...(names ? { names } : {}),
        ...creatorOf(run, target, own),
        ...blockIn(target, block),
        ...confirmedOnly(target.run),
      };
      return run.unit.count(target.key, target.run.app.indexes, query ?? undefined, options, endOf(run));
    },
    async search({ query, options: { sort_index, reverse, limit, offset, names, own, block } }, target) {
      const only = { ...creatorOf(run, target, own), ...blockIn(target, block), ...confirmedOnly(target.run) };
      const options = { query, sortIndex: sort_index, reverse, limit, offset, names, ...only };
      const { records } = await run.unit.search(target.key, target.run.app.indexes, options, endOf(run));
      return new JsonText(await listJson(run, target, records));
    },
  };
}

/** The data of many records, whose files are looked up together, as JSON. */
async function listJson(run: Run, { run: { app } }: AddressedApp, records: readonly StoredRecord[]): Promise<string> {
  const shown = await shownInRun(run, app.id, records);
  return `[${shown.map((record) => dataJson(run, app, record)).join(',')}]`;
}

/** A record's data as JSON: its items are not parsed where they are as they were stored. */
function dataJson(run: Run, app: App, record: StoredRecord): string {
  const [id, url] = [record.id, recordUrl(run, app, record.id)].map((text) => JSON.stringify(text));
  return `{"id":${id},"url":${url},"items":${storedJson(record)}}`;
}

/** The only creator whose records a call finds; anonymous, `''`, has made none. @param own whether the logic wants only own records */
function creatorOf(run: Run, target: AddressedApp, own: boolean | undefined): { creator?: string } {
  if (own) return { creator: ownerOf(run.visit, target.run.app.settings) };
  return target.creator === undefined ? {} : { creator: target.creator };
}

/** The only block whose records a call finds. BadRequestError for one that the app does not have. */
function blockIn({ run: { app } }: AddressedApp, block: string | null | undefined): { block?: string } {
  if (block === null || block === undefined) return {};
  if (app.blocks.has(block)) return { block };
  const hint = didYouMean(block, [...app.blocks.keys()]);
  throw new AppsError('BadRequestError', `The app "${app.id}" has no block "${block}"${hint}`);
}

/** Ends a search when the time of the logic is over or the client has left. */
function endOf({ budget, visit }: Run): ReadEnd {
  // A timer may fire a millisecond early: without the extra one the search would fail before the logic times out.
  return { time: Math.ceil(remainingTime(budget.shared)) + 1, signal: visit.signal };
}
