import type { ContextData, RecordData } from '../types';
import * as is from './row';
import { returns, row } from './row';

const app = is.nullable(is.string);
const page = is.options({ limit: is.count, cursor: is.string, own: is.boolean });
const order = is.options({
  sort_index: is.string,
  reverse: is.boolean,
  limit: is.count,
  offset: is.count,
  names: is.items,
  own: is.boolean,
  block: is.string,
});

/** Host functions for an app: the own one, or another one of the site. */
export const appFunctions = {
  refresh: row({
    doc: 'Builds the indexes of the app again when the request is stored; for managers.',
    details: 'Returns the names of the indexes.',
    written: ['app.refresh({ rebuild })', 'app.refresh(rebuild=False)'],
    types: { App: ['refresh(options?: { rebuild?: boolean } | boolean): string[]'] },
    python: { App: ['def refresh(self, rebuild: bool = False) -> list[str]'] },
    args: { app, rebuild: is.boolean },
    permission: 'manager',
    forwards: { of: 'app', method: 'refresh', positional: ['rebuild'] },
    returns: returns<string[]>(),
  }),
  records: row({
    doc: 'Reads a page of records in order of creation.',
    details:
      'Without `limit` and `cursor` all records. `limit`: at most 1,000; `cursor` of the list asks for the next page and is null at the end. `own`: only those that the requester has created.',
    written: ['app.records({ limit, cursor, own })', 'app.records(limit=None, cursor=None, own=False)'],
    types: {
      App: [
        'records(options?: { limit?: number; cursor?: string; own?: boolean }): AppRecord[] & { cursor: string | null }',
      ],
    },
    python: {
      App: ['def records(self, limit: int | None = None, cursor: str | None = None, own: bool = False) -> Records'],
    },
    args: { app, options: page },
    permission: 'view',
    returns: returns<{ records: RecordData[]; cursor: string | null }>(),
  }),
  count: row({
    doc: 'Counts the records that match a query, or all.',
    details: '`own`: only those that the requester has created; `block`: only those of the block with this id.',
    written: ['app.count(query?, { names, own, block })', 'app.count(query=None, names=None, own=False, block=None)'],
    types: {
      App: ['count(query?: string | null, options?: { names?: Items; own?: boolean; block?: string }): number'],
    },
    python: {
      App: [
        'def count(self, query: str | None = None, names: dict[str, Any] | None = None, own: bool = False, block: str | None = None) -> int',
      ],
    },
    args: {
      app,
      query: is.nullable(is.string),
      names: is.nullable(is.items),
      own: is.boolean,
      block: is.nullable(is.string),
    },
    permission: 'view',
    forwards: { of: 'app', method: 'count', positional: ['query'] },
    returns: returns<number>(),
  }),
  search: row({
    doc: 'Searches records.',
    details:
      '`own`: only those that the requester has created; none for anonymous. `block`: only those of the block with this id.',
    written: [
      'app.search(query, { sort_index, reverse, limit, offset, names, own, block })',
      'app.search(query, sort_index=None, reverse=False, limit=None, offset=None, names=None, own=False, block=None)',
    ],
    types: {
      App: [
        'search(query: string, options?: SearchOptions): AppRecord[]',
        'search(query: string, sort_index?: string, reverse?: boolean): AppRecord[]',
        'search(options: SearchOptions & { query?: string }): AppRecord[]',
      ],
    },
    python: {
      App: [
        "def search(self, query: str = '', sort_index: str | None = None, reverse: bool = False, limit: int | None = None, offset: int | None = None, names: dict[str, Any] | None = None, own: bool = False, block: str | None = None) -> list[Record]",
      ],
    },
    args: { app, query: is.string, options: order },
    permission: 'view',
    returns: returns<RecordData[]>(),
  }),
  openApp: row({
    doc: 'Opens another app; null if there is none.',
    written: ['context.get_app(id)', 'context.get_app(id), context.rapido(id)'],
    types: {
      Context: [
        'get_app(id: string | { id: string }): App | null',
        "/** Rapido's name of `get_app`. */\nrapido(id: string | { app_id: string }): App | null",
      ],
    },
    python: {
      Context: [
        'def get_app(self, id: str | None = None, *, app_id: str | None = None) -> App | None',
        'def rapido(self, id: str | None = None, content: Any = None, app_id: str | None = None) -> App | None',
      ],
    },
    args: { id: is.string },
    permission: 'none',
    flushes: false,
    returns: returns<(ContextData['app'] & { acl: ContextData['acl'] }) | null>(),
  }),
};
