import type { ContextData, RecordData } from '../../../server/src/logic/types';
import type { Items } from '../../../shared/json';
import { createApp, createBlock } from './app';
import { idText, isPlain } from './arguments';
import { createApi, createContent, createPortal } from './content';
import { keys, parse, stringify, text } from './primordials';
import type { Records } from './records';
import { createRequest } from './request';

/** The `context` object of one session with what the prelude needs to steer it. */
export interface LogicContext {
  view: object;
  setRecord(data: RecordData | null): void;
  /** What logic has set on the object itself, as far as it is JSON. */
  properties(): Items;
}

/** Builds `context` (contract, section 8). What the contract names is read only; anything else may be set on it. */
export function createContext(data: ContextData, records: Records, limits: { logEntrySize: number }): LogicContext {
  const { call } = records;
  const { logEntrySize } = limits;
  const app = createApp({ key: null, data: data.app, acl: data.acl, records, logEntrySize });
  let record: object | null = null;
  const setRecord = (now: RecordData | null) => {
    record = now && records.adopt(null, now);
  };
  setRecord(data.record);

  function getApp(argument: unknown): object | null {
    const id = idText(isPlain(argument) ? (argument.id ?? argument.app_id) : argument, 'get_app') ?? '';
    if (id === data.app.id) return app;
    const opened = call('openApp', { id }) as (ContextData['app'] & Pick<ContextData, 'acl'>) | null;
    return opened && createApp({ key: id, data: opened, acl: opened.acl, records, logEntrySize });
  }

  const view = Object.create(
    readOnly({
      app,
      block: data.block && createBlock(data.block),
      request: createRequest(data.request, call),
      parent_request: data.parent_request && createRequest(data.parent_request, null),
      portal: createPortal(data.portal, call),
      content: createContent(data.content, call),
      api: createApi(data.user, call),
      get_app: getApp,
      params: data.params,
      escape: escapeHtml,
    }),
    {},
  ) as object;
  Object.defineProperty(Object.getPrototypeOf(view), 'record', { get: () => record, enumerable: true });
  return { view, setRecord, properties: () => jsonProperties(view) };
}

function readOnly(values: object): object {
  const properties = Object.entries(values).map(([name, value]) => [name, { get: () => value, enumerable: true }]);
  return Object.defineProperties({}, Object.fromEntries(properties));
}

function jsonProperties(view: object): Items {
  const found: Items = {};
  for (const name of keys(view)) {
    try {
      const json = stringify((view as Record<string, unknown>)[name]) as string | undefined;
      if (json !== undefined) found[name] = parse(json);
    } catch {
      // Not JSON: a layout could not use it.
    }
  }
  return found;
}

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escapeHtml(value: unknown): string {
  return value === undefined || value === null
    ? ''
    : text(value).replace(/[&<>"']/g, (character) => escapes[character]);
}
