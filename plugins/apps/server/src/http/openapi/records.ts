import type { Items } from '../../../../shared/json';
import type { App, JsonSchema } from '../../apps';
import { listsWithout } from '../../auth';
import { XLSX_TYPE } from '../../interchange';
import type { AppTarget } from '../../sites/types';
import { operationOf, parameterNames } from '../request/operations';
import type { BlockSchemas, UniqueName } from './blocks';
import { answer, JSON_TYPE, json, ofRuns, operation, reference } from './components';
import { linkPaths } from './links';

const schema = (name: string): JsonSchema => reference('schemas', name);

/** Any records of the app: those of its blocks first, so that a client's types know their items. */
const anyOf = (names: string[], other: string): JsonSchema =>
  names.length > 0 ? { anyOf: [...names, other].map(schema) } : schema(other);

/** The operations on the records of an app, by their paths below the service. */
export function recordPaths(described: App, blocks: readonly BlockSchemas[], unique: UniqueName): Items {
  const { id: app } = described;
  const items = anyOf(
    blocks.map((block) => block.items),
    'Items',
  );
  const record = anyOf(
    blocks.map((block) => block.record),
    'Record',
  );
  const entry: JsonSchema = {
    type: 'object',
    required: ['path', 'id', 'items'],
    properties: { path: { type: 'string', format: 'uri' }, id: schema('RecordId'), items: record },
  };
  const list: JsonSchema = { type: 'array', items: entry };
  const found = answer('The records that match', list, ['X-Total-Count', 'Link']);
  return withLimits(described, {
    [`/${app}`]: appPath(app, items, unique),
    [`/${app}/records`]: collectionPath(app, { items, list }, unique),
    [`/${app}/records.csv`]: {
      get: tableOperation(app, unique(app, 'listTable'), 'All records as a table', queryOf('records.csv')),
    },
    [`/${app}/search.csv`]: {
      get: tableOperation(app, unique(app, 'searchTable'), 'The records that match, as a table', queryOf('search.csv')),
    },
    [`/${app}/records.xlsx`]: {
      get: tableOperation(app, unique(app, 'listWorkbook'), 'All records as XLSX', queryOf('records.xlsx'), workbook),
    },
    [`/${app}/search.xlsx`]: {
      get: tableOperation(
        app,
        unique(app, 'searchWorkbook'),
        'The records that match, as XLSX',
        queryOf('search.xlsx'),
        workbook,
      ),
    },
    [`/${app}/record/{record_id}`]: recordPath(app, { items, record }, unique),
    ...(described.settings.history && { [`/${app}/history/{record_id}`]: historyPath(app, unique) }),
    [`/${app}/files/{file_id}/{name}`]: filePath(app, unique),
    ...linkPaths(described, record, unique),
    [`/${app}/search`]: {
      get: operation(app, {
        id: unique(app, 'find'),
        summary: 'Search records by a plain link',
        parameters: queryOf('search'),
        answers: { 200: found },
      }),
      post: operation(app, {
        id: unique(app, 'search'),
        summary: 'Search records',
        changes: true,
        body: json(schema('Search')),
        answers: { 200: found },
      }),
    },
    [`/${app}/refresh`]: {
      post: operation(app, {
        id: unique(app, 'refresh'),
        summary: 'Index all records again; for managers',
        changes: true,
        body: json(schema('Refresh')),
        answers: { 200: answer('Done', schema('Refreshed')) },
      }),
    },
  });
}

/** The kinds of addresses by the rest of their path. */
const kindOf = (rest: string): AppTarget['kind'] =>
  rest === '' ? 'root' : ((rest.split('/')[1] ?? '') as AppTarget['kind']);

/** Says of each operation to which lists of `acl` the key `json` of settings.yaml closes it. */
function withLimits({ id, settings }: App, paths: Items): Items {
  const limited = Object.entries(paths).map(([path, item]) => {
    const kind = kindOf(path.slice(id.length + 1));
    const methods = Object.entries(item as Items).map(([method, one]) => {
      const right = operationOf(kind, method.toUpperCase(), true)?.right;
      const lists = right ? listsWithout(settings.json, right) : [];
      if (lists.length === 0) return [method, one];
      const closed = `Not for requesters who have the right by these lists of acl alone: ${lists.join(', ')}.`;
      const { description } = one as { description?: string };
      return [
        method,
        { ...(one as Items), description: description === undefined ? closed : `${description}. ${closed}` },
      ];
    });
    return [path, Object.fromEntries(methods)];
  });
  return Object.fromEntries(limited);
}

/** The components of the query parameters that GET of an address takes: `SortIndex` of `sort_index`. */
const queryOf = (kind: AppTarget['kind']): string[] =>
  (operationOf(kind, 'GET', true)?.parameters ?? []).map(componentOf);

const componentOf = (name: string): string => name.replace(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase());

const text = (description: string): Items => ({ schema: { type: 'string', description } });

/** Bytes, which have no schema. */
const workbook: Items = { [XLSX_TYPE]: {} };

/** A list by a plain link. */
const tableOperation = (
  app: string,
  id: string,
  summary: string,
  parameters: string[],
  content: Items = { 'text/csv': text('A table; its first line names the columns') },
) =>
  operation(app, {
    id,
    summary,
    parameters,
    answers: {
      200: {
        description: 'The records',
        content,
      },
    },
  });

function appPath(app: string, items: JsonSchema, unique: UniqueName): Items {
  return {
    get: operation(app, {
      id: unique(app, 'settings'),
      summary: 'The settings of the app, and a CSRF token',
      answers: { 200: answer('The settings', schema('Settings'), ['x-csrf-token', 'X-Index-Progress']) },
    }),
    post: operation(app, {
      id: unique(app, 'create'),
      summary: 'Create a record',
      changes: true,
      body: { required: true, ...json(items) },
      answers: { 201: answer('Created', schema('Created'), ['Location']) },
      errors: ofRuns,
    }),
  };
}

function recordPath(
  app: string,
  { items, record }: { items: JsonSchema; record: JsonSchema },
  unique: UniqueName,
): Items {
  const update = (method: string) =>
    operation(app, {
      id: unique(app, method),
      summary: 'Change a record: items that are not named stay',
      changes: true,
      parameters: ['IfMatch'],
      body: { required: true, ...json(schema('Change')) },
      answers: { 200: answer('Changed', schema('Updated')) },
      errors: [...ofRuns, 412],
    });
  return {
    parameters: [reference('parameters', 'RecordId')],
    get: operation(app, {
      id: unique(app, 'get'),
      summary: 'A record',
      parameters: ['IfNoneMatch'],
      answers: { 200: answer('Its items', record, ['ETag']), 304: { description: 'The known version is current' } },
    }),
    put: operation(app, {
      id: unique(app, 'createWithId'),
      summary: 'Create a record with this id',
      changes: true,
      body: { required: true, ...json(items) },
      answers: { 201: answer('Created', schema('Created'), ['Location']) },
      errors: ofRuns,
    }),
    patch: update('update'),
    post: update('updateByPost'),
    delete: operation(app, {
      id: unique(app, 'delete'),
      summary: 'Delete a record',
      changes: true,
      parameters: ['IfMatch'],
      answers: { 200: answer('Deleted', schema('Deleted')) },
      errors: [...ofRuns, 412],
    }),
  };
}

function historyPath(app: string, unique: UniqueName): Items {
  return {
    parameters: [reference('parameters', 'RecordId')],
    get: operation(app, {
      id: unique(app, 'history'),
      summary: 'What changes have made of a record, newest first; for editors, where the app keeps a history',
      parameters: ['Before', 'Versions'],
      answers: { 200: answer('The versions', { type: 'array', items: schema('Version') }, ['Link']) },
    }),
    post: operation(app, {
      id: unique(app, 'restore'),
      summary: 'Make a record what it was after a change',
      changes: true,
      body: { required: true, ...json(schema('Restore')) },
      answers: {
        200: answer('Changed', schema('Restored')),
        201: answer('A deleted record was created again', schema('Restored')),
      },
      errors: ofRuns,
    }),
  };
}

function filePath(app: string, unique: UniqueName): Items {
  const inPath = (name: string, description: string): Items => ({
    name,
    in: 'path',
    required: true,
    description,
    schema: { type: 'string' },
  });
  return {
    parameters: [inPath('file_id', 'The documentId of a file of a record'), inPath('name', 'Its name')],
    get: operation(app, {
      id: unique(app, 'file'),
      summary: 'A private file, for those who may view its record',
      description:
        'The `url` of a file names this address. With `?thumbnail` a small picture of an image, with `?download` an answer that a browser keeps',
      parameters: ['IfNoneMatch'],
      answers: {
        200: { description: 'The file', content: { 'application/octet-stream': {} } },
        206: { description: 'A part of it, by the header `Range`' },
        302: { description: 'It is at an address of the storage that holds for a moment' },
        304: { description: 'The known version is current' },
        416: { description: 'It has no such part' },
      },
    }),
  };
}

function collectionPath(
  app: string,
  { items, list }: { items: JsonSchema; list: JsonSchema },
  unique: UniqueName,
): Items {
  return {
    get: operation(app, {
      id: unique(app, 'list'),
      summary: 'All records, in order of creation',
      parameters: queryOf('records'),
      answers: {
        200: {
          description: 'The records',
          headers: { Link: reference('headers', 'Link') },
          content: {
            [JSON_TYPE]: { schema: list },
            'application/x-ndjson': text('An entry of the JSON list on each line'),
            'text/csv': text('A table; its first line names the columns'),
            ...workbook,
          },
        },
      },
    }),
    post: operation(app, {
      id: unique(app, 'createMany'),
      summary: 'Create many records, all or none',
      changes: true,
      parameters: parameterNames.table.map(componentOf),
      body: {
        required: true,
        content: {
          [JSON_TYPE]: { schema: { type: 'array', items } },
          'application/x-ndjson': text('Items on each line'),
          'text/csv': text('A table, whose first row names the items'),
          'text/tab-separated-values': text('The same with tabs'),
          ...workbook,
        },
      },
      answers: { 201: answer('Created', schema('CreatedMany')) },
      errors: ofRuns,
    }),
    delete: operation(app, {
      id: unique(app, 'deleteAll'),
      summary: 'Delete all records and indexes',
      changes: true,
      answers: { 200: answer('Deleted', schema('Deleted')) },
    }),
  };
}
