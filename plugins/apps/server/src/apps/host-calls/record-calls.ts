import { missing, notFound } from '../../common/errors';
import type { RecordData } from '../../logic/types';
import type { ReadEnd, StoredRecord } from '../../records/types';
import { recordData } from '../run/context-data';
import { nestedRun } from '../run/run';
import type { Run } from '../run/types';
import { readCursor, writeCursor } from './cursor';
import type { Handlers } from './handlers';
import type { Target } from './host-target';

/** Records of one call of `context.app.records()`: without a limit, and with any. */
const DEFAULT_PAGE_SIZE = 100;
const MAX_PAGE_SIZE = 1000;

type RecordCalls = Pick<
  Handlers,
  'getRecord' | 'createRecord' | 'deleteRecord' | 'changeRecord' | 'saveRecord' | 'reindexRecord' | 'displayRecord'
>;

/** Host functions for one record of the app that the call addresses. */
export function recordCalls(run: Run): RecordCalls {
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

/** Host functions for many records of the app that the call addresses. */
export function listCalls(run: Run): ListCalls {
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

/** Ends a search when the time of the logic is over or the client has left. */
function endOf({ budget, visit }: Run): ReadEnd {
  // A timer may fire a millisecond early: without the extra one the search would fail before the logic times out.
  return { time: Math.ceil(budget.shared.deadline - performance.now()) + 1, signal: visit.signal };
}
