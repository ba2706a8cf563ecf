import type { CreatorData, RecordData, SavedData } from '../types';
import * as is from './row';
import { returns, row } from './row';

const app = is.nullable(is.string);
const id = is.string;
const change = is.options({ set: is.items, unset: is.list(is.string), inc: is.dictionary(is.number) });

/** Host functions for one record. */
export const recordFunctions = {
  getRecord: row({
    doc: 'Reads a record; null if there is none.',
    written: ['app.get_record(id)', 'app.get_record(id)'],
    types: { App: ['get_record(id: string | number | { id: string }): AppRecord | null'] },
    python: { App: ['def get_record(self, id: str | int | Record) -> Record | None'] },
    args: { app, id },
    permission: 'view',
    returns: returns<RecordData | null>(),
  }),
  createRecord: row({
    doc: 'Makes a record, with the given id or one of its own.',
    details: 'A taken id gets `-1`, `-2`, … at its end.',
    written: ['app.create_record(id?)', 'app.create_record(id=None)'],
    types: { App: ['create_record(id?: string | number | { id: string }): AppRecord'] },
    python: { App: ['def create_record(self, id: str | int | None = None) -> Record'] },
    args: { app, id: is.nullable(id) },
    permission: 'create',
    returns: returns<RecordData>(),
  }),
  deleteRecord: row({
    doc: "Deletes a record after its block's on_delete, unless on_delete is false. False if there was none.",
    written: [
      'app.delete_record(id or record, { on_delete: true })',
      'app.delete_record(id=None, record=None, on_delete=True)',
    ],
    types: {
      App: [
        `delete_record(
    record: string | number | AppRecord | ({ id: string } & DeleteOptions) | ({ record: AppRecord } & DeleteOptions),
    options?: DeleteOptions,
  ): boolean`,
      ],
    },
    python: {
      App: [
        'def delete_record(self, id: str | int | Record | None = None, record: Record | None = None, on_delete: bool = True, ondelete: bool = True) -> bool',
      ],
    },
    args: { app, id, on_delete: is.boolean },
    permission: 'delete',
    returns: returns<boolean>(),
  }),
  changeRecord: row({
    doc: 'Sets, removes or adds to items of a record.',
    details: '`inc` begins at 0, loses nothing that other requests add, and returns the sum.',
    written: [
      'record.total = 1, delete record.total, record.set(name, value), record.inc(name, by)',
      "record['total'] = 1, del record['total'], record.update(items), record.inc(name, by=1)",
    ],
    types: {
      AppRecord: [
        'set(name: string, value: unknown): this',
        'set(items: Record<string, unknown>): this',
        'inc(name: string, by?: number): number',
      ],
    },
    python: {
      Record: [
        'def set(self, name: str | dict[str, Any], value: Any = None) -> Record',
        'def update(self, items: dict[str, Any] | None = None, **more: Any) -> None',
        'def inc(self, name: str, by: float = 1) -> float',
        'def __setitem__(self, name: str, value: Any) -> None',
        'def __delitem__(self, name: str) -> None',
      ],
    },
    args: { app, id, change },
    permission: 'edit',
    returns: returns<RecordData>(),
  }),
  saveRecord: row({
    doc: 'Saves a record; with a block, its computed elements and on_save run.',
    details:
      'Returns the record, or what `on_save` returned. `context.request` instead of items: the fields of its form.',
    written: [
      'record.save(items?, { block_id, creation }), record.save(context.request, { block_id })',
      'record.save(items=None, block_id=None, creation=False), record.save(request=context.request)',
    ],
    types: {
      AppRecord: [
        'save(items?: Record<string, unknown>): this',
        'save(items: Record<string, unknown> | Request | null | undefined, options: SaveOptions): Value',
      ],
    },
    python: {
      Record: [
        'def save(self, items: dict[str, Any] | None = None, block_id: str | None = None, block: Block | None = None, creation: bool = False, request: Request | None = None) -> Any',
      ],
    },
    args: { app, id, block: is.nullable(id), creation: is.boolean, form: is.boolean },
    permission: 'edit',
    returns: returns<SavedData>(),
  }),
  reindexRecord: row({
    doc: 'Writes the index rows of a record again.',
    written: ['record.reindex()', 'record.reindex()'],
    types: { AppRecord: ['reindex(): void'] },
    python: { Record: ['def reindex(self) -> None'] },
    args: { app, id },
    permission: 'edit',
    forwards: { of: 'record', method: 'reindex', positional: [] },
    returns: returns<null>(),
  }),
  recordCreator: row({
    doc: 'Tells who has created a record; null for anonymous and for an account that no longer exists.',
    details: 'An item of this name is reached by `get` and `set`.',
    written: ['record.creator', 'record.creator'],
    types: { AppRecord: ['readonly creator: Creator | null'] },
    python: { Record: ['@property\ndef creator(self) -> Creator | None'] },
    args: { app, id },
    permission: 'view',
    flushes: false,
    returns: returns<CreatorData | null>(),
  }),
  displayRecord: row({
    doc: 'Renders a record with its block, as HTML.',
    written: ['record.display({ edit })', 'record.display(edit=False)'],
    types: { AppRecord: ['display(options?: { edit?: boolean } | boolean): string'] },
    python: { Record: ['def display(self, edit: bool = False) -> str'] },
    args: { app, id, edit: is.boolean },
    permission: 'view',
    returns: returns<string>(),
  }),
};
