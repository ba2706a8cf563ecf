import type { AppTarget } from '../../sites/types';
import { getOpenApi } from '../openapi/document';
import type { Exchange } from '../request/exchange';
import { deleteDraft, postToDraft, readDraft, showDraft } from './drafts';
import * as json from './json-handlers';
import { getHistory, postHistory } from './list';
import {
  confirmByForm,
  confirmByJson,
  deleteConfirmation,
  deleteRefusal,
  postRefusal,
  readConfirmation,
  readRefusal,
  refuseByJson,
  showConfirmation,
  showRefusal,
} from './mail-links';
import { changeOwn, deleteOwn, postToOwn, readOwn, showOwn } from './own-records';
import * as page from './page-handlers';
import { postBlock, postToRecord } from './posted-forms';
import { getFile } from './private-files';

type Handle = (exchange: Exchange<never>) => Promise<void>;

/** What answers a method: one handler, or one for JSON and one for page requests. */
type Route = Handle | { json: Handle; page: Handle };

/** Every address below `/@@apps/<app_id>` and the methods it takes; HEAD is GET without a body. */
export const routes: Record<AppTarget['kind'], Readonly<Record<string, Route>>> = {
  root: { GET: json.getSettings, POST: json.postRecord },
  records: { GET: json.getRecords, POST: json.postRecords, DELETE: json.deleteRecords },
  'records.csv': { GET: json.getRecordsFile('csv') },
  'records.xlsx': { GET: json.getRecordsFile('xlsx') },
  search: { GET: json.getSearch, POST: json.postSearch },
  'search.csv': { GET: json.getSearchFile('csv') },
  'search.xlsx': { GET: json.getSearchFile('xlsx') },
  refresh: { POST: json.postRefresh },
  openapi: { GET: getOpenApi },
  record: {
    GET: { json: json.getRecord, page: page.showRecord },
    POST: { json: json.patchRecord, page: postToRecord },
    PUT: json.putRecord,
    PATCH: json.patchRecord,
    DELETE: json.deleteRecord,
  },
  history: { GET: getHistory, POST: postHistory },
  file: { GET: getFile },
  mine: {
    GET: { json: readOwn, page: showOwn },
    POST: { json: changeOwn, page: postToOwn },
    PATCH: changeOwn,
    DELETE: deleteOwn,
  },
  draft: {
    GET: { json: readDraft, page: showDraft },
    POST: postToDraft,
    DELETE: deleteDraft,
  },
  confirm: {
    GET: { json: readConfirmation, page: showConfirmation },
    POST: { json: confirmByJson, page: confirmByForm },
    DELETE: deleteConfirmation,
  },
  unsubscribe: {
    GET: { json: readRefusal, page: showRefusal },
    POST: { json: refuseByJson, page: postRefusal },
    DELETE: deleteRefusal,
  },
  block: {
    GET: { json: json.getBlock, page: page.showBlock },
    POST: postBlock,
  },
  element: {
    GET: { json: json.getElement, page: page.showElement },
    POST: { json: json.getElement, page: page.showElement },
  },
};

/** The handler of a request, or the methods that are allowed. */
export function routeOf(kind: AppTarget['kind'], method: string, isJson: boolean): Handle | { allow: string } {
  const methods = routes[kind];
  const route = methods[method === 'HEAD' ? 'GET' : method];
  if (!route) return { allow: allowedMethods(kind) };
  if (typeof route === 'function') return route;
  return isJson ? route.json : route.page;
}

/** The value of the header `Allow`. */
export function allowedMethods(kind: AppTarget['kind']): string {
  const methods = Object.keys(routes[kind]);
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
}
