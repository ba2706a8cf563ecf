import type { Json } from '../../../../shared/json';
import { blockFunctions } from './blocks';
import { contentFunctions } from './content';
import { type HostFunction, type HostRun, row } from './row';
import * as is from './schema';

const app = is.nullable(is.string);
const id = is.string;

const documentMethods = new Set(
  'findMany findFirst findOne count create update delete publish unpublish discardDraft'.split(' '),
);

const documentMethod: is.Schema<string> = {
  about: `one of ${[...documentMethods].join(', ')}`,
  check(value, name) {
    const method = is.string.check(value, name);
    return documentMethods.has(method) ? method : is.nothing(name, this.about);
  },
};

const change = is.options({ set: is.items, unset: is.list(is.string), inc: is.dictionary(is.number) });
const page = is.options({ limit: is.count, cursor: is.string });
const order = { sort_index: is.string, reverse: is.boolean, limit: is.count, offset: is.count, names: is.items };
const response = is.options({ status: is.status, headers: is.dictionary(is.string), redirect: is.string });

/** Everything that logic may ask of the server: the only way out of the sandbox (contract, section 8). */
export const hostFunctions: readonly HostFunction[] = [
  row(
    'getRecord',
    'Reads a record; null if there is none.',
    ['app.get_record(id)', 'app.get_record(id)'],
    { app, id },
    ({ host }, a) => host.getRecord(a.app, a.id),
  ),
  row(
    'createRecord',
    'Makes a record, with the given id or one of its own.',
    ['app.create_record(id?)', 'app.create_record(id=None)'],
    { app, id: is.nullable(id) },
    ({ host }, a) => host.createRecord(a.app, a.id),
  ),
  row(
    'deleteRecord',
    "Deletes a record after its block's on_delete, unless on_delete is false. False if there was none.",
    ['app.delete_record(id or record, { on_delete: true })', 'app.delete_record(id=None, record=None, on_delete=True)'],
    { app, id, on_delete: is.boolean },
    ({ host }, a) => host.deleteRecord(a.app, a.id, a.on_delete),
  ),
  row(
    'changeRecord',
    'Sets, removes or adds to items of a record.',
    [
      'record.total = 1, delete record.total, record.set(name, value), record.inc(name, by)',
      "record['total'] = 1, del record['total'], record.update(items), record.inc(name, by=1)",
    ],
    { app, id, change },
    ({ host }, a) => host.changeRecord(a.app, a.id, a.change),
  ),
  row(
    'saveRecord',
    'Saves a record; with a block, its computed elements and on_save run.',
    [
      'record.save(items?, { block_id, creation }), record.save(context.request, { block_id })',
      'record.save(items=None, block_id=None, creation=False), record.save(request=context.request)',
    ],
    { app, id, block: is.nullable(id), creation: is.boolean, form: is.boolean },
    ({ host }, { app, id, ...options }) => host.saveRecord(app, id, options),
  ),
  row(
    'reindexRecord',
    'Writes the index rows of a record again.',
    ['record.reindex()', 'record.reindex()'],
    { app, id },
    ({ host }, a) => host.reindexRecord(a.app, a.id),
  ),
  row(
    'displayRecord',
    'Renders a record with its block, as HTML.',
    ['record.display({ edit })', 'record.display(edit=False)'],
    { app, id, edit: is.boolean },
    ({ host }, a) => host.displayRecord(a.app, a.id, a.edit),
  ),
  ...blockFunctions,
  row(
    'records',
    'Reads a page of records in order of creation.',
    ['app.records({ limit, cursor })', 'app.records(limit=None, cursor=None)'],
    { app, options: page },
    ({ host }, a) => host.records(a.app, a.options),
  ),
  row(
    'count',
    'Counts the records that match a query, or all.',
    ['app.count(query?, { names })', 'app.count(query=None, names=None)'],
    { app, query: is.nullable(is.string), names: is.nullable(is.items) },
    ({ host }, a) => host.count(a.app, a.query, a.names),
  ),
  row(
    'search',
    'Searches records.',
    [
      'app.search(query, { sort_index, reverse, limit, offset, names })',
      'app.search(query, sort_index=None, reverse=False, limit=None, offset=None, names=None)',
    ],
    { app, query: is.string, options: is.options(order) },
    ({ host }, a) => host.search(a.app, a.query, a.options),
  ),
  row(
    'openApp',
    'Opens another app; null if there is none.',
    ['context.get_app(id)', 'context.get_app(id), context.rapido(id)'],
    { id },
    ({ host }, a) => host.openApp(a.id),
  ),
  row(
    'portalGet',
    'Reads the content item at a path of the site.',
    ['portal.get(path), api.content.get({ path })', 'portal.get(path), portal[path], api.content.get(path=path)'],
    { path: is.string },
    ({ host }, a) => host.portalGet(a.path),
  ),
  row(
    'contentUpdate',
    'Changes fields of the current content item.',
    [
      "content.update(data), content.title = '…'",
      "content.update(data), content.update(title='…'), content.title = '…'",
    ],
    { data: is.items },
    ({ host }, a) => host.contentUpdate(a.data),
  ),
  ...contentFunctions,
  row(
    'documents',
    "Calls a method of Strapi's documents with the requester's permissions.",
    ['api.documents(uid).findMany(params)', 'api.documents(uid).findMany(filters={…})'],
    { uid: is.string, method: documentMethod, params: is.items },
    ({ host }, a) => host.documents(a.uid, a.method, a.params),
  ),
  row(
    'log',
    'Writes a log entry.',
    ['app.log(message)', 'app.log(message), print(message)'],
    { message: is.string, stack: is.string },
    (run, a) => {
      run.countLog();
      run.host.log({
        app: run.app,
        block: run.block,
        line: run.lineOf(a.stack),
        message: a.message.slice(0, run.logEntrySize),
      });
    },
  ),
  row(
    'respond',
    'Changes the status, a header or the redirect of the response.',
    [
      'request.response.status = 404, .set_header(name, value), .redirect(url)',
      'request.response.status = 404, .set_header(name, value), .redirect(url)',
    ],
    { changes: response },
    ({ host }, a) => host.respond(a.changes),
  ),
];

const byName = new Map(hostFunctions.map((row) => [row.name, row]));

/** Checks the arguments and calls one host function. BadRequestError for a wrong name or argument. */
export async function callHost(run: HostRun, name: string, given: Record<string, unknown>): Promise<Json> {
  const found = byName.get(name) ?? is.nothing('the host function', 'one that exists');
  const args: Record<string, unknown> = {};
  for (const [key, schema] of Object.entries(found.args)) args[key] = schema.check(given[key], key);
  return ((await found.run(run, args)) ?? null) as Json;
}
