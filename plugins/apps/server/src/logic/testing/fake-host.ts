import type { Items, Json } from '../../../../shared/json';
import { AppsError } from '../../common/errors';
import { hostFunctions } from '../host-functions/table';
import type {
  ContentData,
  HostArguments,
  HostFunctionName,
  HostResult,
  LogEntry,
  LogicHost,
  RecordData,
} from '../types';
import { contextOf } from './context';

/** Answers of the fake host other than null. */
type Answers = {
  [Name in HostFunctionName]?: (args: HostArguments<Name>) => HostResult<Name>;
};

/** Recorded forms of calls other than the arguments in the order of the row; null: not recorded. */
const notes: { [Name in HostFunctionName]?: (args: HostArguments<Name>) => unknown[] | null } = {
  log: () => null,
  deleteRecord: ({ app, id }) => [app, id],
  saveRecord: ({ app, id, ...options }) => [app, id, options],
  contentFind: ({ type, filters, ...order }) => [type, filters, order],
};

/** A host that keeps records in memory and records its calls. */
export function fakeHost(
  stored: Record<string, Items> = {},
): LogicHost & { calls: Json[][]; logs: LogEntry[]; stored: typeof stored } {
  const calls: Json[][] = [];
  const logs: LogEntry[] = [];
  const answers = { ...recordAnswers(stored), ...contentAnswers, log: (entry: LogEntry) => void logs.push(entry) };

  const handler = (name: HostFunctionName) => async (args: never) => {
    const noted = notes[name] ? notes[name](args) : Object.values(args);
    if (noted) calls.push(JSON.parse(JSON.stringify([name, ...noted])) as Json[]);
    return (answers as Record<string, (args: never) => unknown>)[name]?.(args) ?? null;
  };
  const names = Object.keys(hostFunctions) as HostFunctionName[];
  const host = Object.fromEntries(names.map((name) => [name, handler(name)])) as unknown as LogicHost;
  return { ...host, calls, logs, stored };
}

function recordAnswers(stored: Record<string, Items>) {
  const data = (id: string): RecordData => ({
    id,
    url: `http://x/record/${id}`,
    items: structuredClone(stored[id] ?? {}),
  });
  const need = (id: string) => {
    if (!stored[id]) throw new AppsError('NotFoundError', `There is no record ${id}`);
    return data(id);
  };
  let made = 0;
  return {
    getRecord: ({ id }) => (stored[id] ? data(id) : null),
    recordCreator: ({ id }) => (stored[id] ? { id: `maker of ${id}`, username: 'una' } : null),
    createRecord({ id: given }) {
      const id = given ?? String(++made);
      if (stored[id]) throw new AppsError('ConflictError', `The id ${id} is taken`);
      stored[id] = {};
      return data(id);
    },
    deleteRecord: ({ id }) => delete stored[id],
    changeRecord({ id, change }) {
      const items = need(id).items;
      Object.assign(items, change.set);
      for (const name of change.unset ?? []) delete items[name];
      for (const [name, by] of Object.entries(change.inc ?? {})) items[name] = Number(items[name] ?? 0) + by;
      stored[id] = items;
      return data(id);
    },
    saveRecord({ id, block, creation, form }) {
      const ran = block !== null || creation || form;
      return { record: need(id), ran, returned: ran ? 'http://x/saved' : null };
    },
    records({ options: { limit = 100, cursor = '0' } }) {
      const end = Number(cursor) + limit;
      const ids = Object.keys(stored);
      return { records: ids.slice(Number(cursor), end).map(data), cursor: end < ids.length ? String(end) : null };
    },
    count: () => Object.keys(stored).length,
    search: () => Object.keys(stored).map(data),
  } satisfies Answers;
}

/** The content item of the tests. */
const contentNow = () => contextOf().content as ContentData;

const contentAnswers = {
  displayRecord: ({ id }) => `<p>${id}</p>`,
  blockElements: () => ({ total: { type: 'NUMBER' } }),
  blockPlaces: () => ({ limit: 3, taken: 1, left: 2, waiting: 0, state: 'open' }),
  displayBlock: ({ id }) => `<form>${id}</form>`,
  refresh: () => ['id', 'total'],
  openApp({ id }) {
    if (id !== 'other') return null;
    const acl = { username: null, groups: [], rights: [], roles: [], held: [], manager: true };
    return { ...contextOf().app, id, acl };
  },
  fetch: () => ({ status: 200, headers: { 'content-type': 'application/json' }, text: '{}' }),
  portalGet: ({ path }) => (path === '/none' ? null : contentNow()),
  contentUpdate({ data }) {
    const content = contentNow();
    return { ...content, fields: { ...content.fields, ...data }, title: String(data.title ?? content.title) };
  },
  contentFind: () => [contentNow()],
  contentCreate: ({ data }) => ({ ...contentNow(), documentId: 'd2', title: String(data.title) }),
  documents: ({ uid }) => [{ uid }],
  respond({ changes }) {
    if (changes.redirect?.startsWith('http://evil')) throw new AppsError('BadRequestError', 'Redirect not allowed');
  },
} satisfies Answers;
