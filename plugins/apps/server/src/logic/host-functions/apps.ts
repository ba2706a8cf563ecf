import type { Items } from '../../../../shared/json';
import type { ContextData, PlacesData, RecordData } from '../types';
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

const id = is.string;

/** Host functions for a block of an app. */
export const blockFunctions = {
  blockElements: row({
    doc: 'Reads the elements that a block declares, each with its type.',
    written: ['app.get_block(id).elements', 'app.get_block(id).elements'],
    types: { BlockReference: ['readonly elements: { [name: string]: Items }'] },
    python: { Block: ['@property\ndef elements(self) -> dict[str, dict[str, Any]]'] },
    args: { app, id },
    permission: 'block',
    returns: returns<Items>(),
  }),
  blockPlaces: row({
    doc: 'Tells how many places a block has, and whether it takes records; null for a block without such rules.',
    details: 'What it says is part of what the request has read.',
    written: ['context.block.places', 'context.block.places'],
    types: { BlockReference: ['readonly places: Places | null'] },
    python: { Block: ['@property\ndef places(self) -> Places | None'] },
    args: { app, id },
    permission: 'block',
    returns: returns<PlacesData | null>(),
  }),
  displayBlock: row({
    doc: 'Renders a block as HTML, with a record or without.',
    details: 'To read, or with `edit` to fill in.',
    written: ['app.get_block(id).display({ record, edit })', 'app.get_block(id).display(record=None, edit=False)'],
    types: {
      BlockReference: [
        'display(options?: { record?: AppRecord | string; edit?: boolean }): string',
        'display(record: AppRecord | string | null, edit?: boolean): string',
      ],
    },
    python: { Block: ['def display(self, record: Record | str | None = None, edit: bool = False) -> str'] },
    args: { app, id, record: is.nullable(id), edit: is.boolean },
    permission: 'block',
    returns: returns<string>(),
  }),
  references: row({
    doc: 'Reads the targets of a REFERENCE that the requester may see: their fields, with id and url.',
    details: 'Takes the items of many records at once: up to 200 ids, in lists or not; null counts for none.',
    written: ['app.references(block_id, element, ids)', 'app.references(id, element, ids)'],
    types: {
      App: [
        'references(block_id: string, element: string, ids: unknown): (Items & { id: string; url: string | null })[]',
      ],
    },
    python: { App: ['def references(self, id: str, element: str, ids: Any) -> list[dict[str, Any]]'] },
    args: { app, id, element: is.string, ids: is.ids },
    permission: 'block',
    forwards: { of: 'app', method: 'references', positional: ['id', 'element', 'ids'] },
    returns: returns<Items[]>(),
  }),
};
