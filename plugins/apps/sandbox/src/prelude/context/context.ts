import type { Items, Json } from '../../../../shared/json';
import type { ContextData, RecordData, RequestData } from '../../../../shared/logic-protocol';
import { zonedTime } from '../../site-time';
import { idText, isPlain, named } from '../arguments';
import { once } from '../each-session';
import type { Log } from '../log';
import { looked } from '../looked';
import { keys, parse, stringify, text } from '../primordials';
import { stateOf } from '../records/record-view';
import type { Records } from '../records/records';
import { createRequest } from '../request';
import { createApp, createBlock } from './app';
import { createApi, createContent, createPortal } from './content';

/** The `context` object of one session with what the prelude needs to change it. */
export interface LogicContext {
  view: object;
  setRecord(data: RecordData | null): void;
  /** A new `context.request`; what logic has done to the old one's response stays. */
  setRequest(data: RequestData): void;
  /** Properties that logic has set on the object, if they are JSON. */
  properties(): Items;
}

/**
 * Builds `context` (docs/reference/logic.md#context). Its documented properties are read only; logic may set any
 * others. Every part is made when it is first used: most logic uses few of them.
 */
export function createContext(data: ContextData, records: Records, log: Log): LogicContext {
  const { call } = records;
  const app = once(() => createApp({ key: null, data: data.app, acl: data.acl, records, log }));
  const block = once(() => data.block && createBlock(data.block, null, records));
  let request = once(() => createRequest(data.request, call, 'request'));
  const parent = once(() => data.parent_request && createRequest(data.parent_request, null, 'parent_request'));
  const portal = once(() => createPortal(data.portal, call));
  const content = once(
    () => data.content && createContent(data.content, { records, changes: data.request.method === 'POST' }),
  );
  const api = once(() => createApi(data.user, portal, call));
  const fetch = once(() => createFetch(call));
  const mail = once(() => createMail(call));
  const jobs = once(() => createJobs(call));
  // It is adopted at once: older data must not undo what logic does to the record when it reads it by its id.
  let record = data.record && records.adopt(null, data.record);

  function getApp(argument: unknown): object | null {
    const id = idText(isPlain(argument) ? (argument.id ?? argument.app_id) : argument, 'get_app') ?? '';
    if (id === data.app.id) return app();
    const opened = call('openApp', { id }) as (ContextData['app'] & Pick<ContextData, 'acl'>) | null;
    return opened && createApp({ key: id, data: opened, acl: opened.acl, records, log });
  }

  function invalid(...args: unknown[]): void {
    const { element, message } = named(args, ['element', 'message']) as Items;
    call('invalid', { element: element || null, message: message ?? null });
  }

  function flash(...args: unknown[]): void {
    const { message } = named(args, ['message']) as Items;
    call('flash', { message: message ?? null });
  }

  const view: object = {
    __proto__: {
      get app() {
        return app();
      },
      get block() {
        return block();
      },
      get record() {
        return record;
      },
      get request() {
        return request();
      },
      get parent_request() {
        return parent();
      },
      get portal() {
        return portal();
      },
      get now() {
        looked.at('clock');
        return zonedTime(Date.now(), data.portal.time_zone);
      },
      get content() {
        return content();
      },
      get api() {
        return api();
      },
      get visitor() {
        if (data.visitor) looked.at('visitor');
        return data.visitor;
      },
      get mail() {
        return mail();
      },
      get fetch() {
        return fetch();
      },
      get jobs() {
        return jobs();
      },
      get get_app() {
        return getApp;
      },
      get rapido() {
        return getApp;
      },
      get invalid() {
        return invalid;
      },
      get flash() {
        return flash;
      },
      get params() {
        return data.params;
      },
      get escape() {
        return escapeHtml;
      },
    },
  };
  return {
    view,
    setRecord(now) {
      record = now && records.adopt(null, now);
    },
    setRequest(now) {
      request = once(() => createRequest(now, call, 'request'));
    },
    properties: () => jsonProperties(view),
  };
}

/** `context.mail`. */
function createMail(call: Records['call']): object {
  return {
    send(...args: unknown[]): void {
      const { to, ...rest } = named(args, ['to', 'subject', 'text']) as Items;
      const recipients = to === undefined ? {} : { to: Array.isArray(to) ? to : [to] };
      call('sendMail', { mail: { ...rest, ...recipients } as Items });
    },
  };
}

/** `context.jobs`. */
function createJobs(call: Records['call']): object {
  return {
    add(target: unknown, params: unknown, options: unknown): unknown {
      return call('addJob', { target, params, options: options ?? {} } as unknown as Items);
    },
    fetch: (...args: unknown[]) => call('addFetch', fetchArguments(args)),
  };
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

export function escapeHtml(value: unknown): string {
  return value === undefined || value === null
    ? ''
    : text(value).replace(/[&<>"']/g, (character) => escapes[character] ?? character);
}

/** The arguments of a call, as the server takes them: an object or a list as body is JSON, anything else is text. */
function fetchArguments(args: readonly unknown[]): Items {
  const { url, body, ...rest } = named(args, ['url']) as Items;
  const options = body === undefined ? rest : { ...rest, body: bodyOf(body) };
  return { url: url === undefined ? null : text(url), options };
}

/** `context.fetch`: the server makes the call; `ok` and `json` are made here, of the server's answer. */
function createFetch(call: Records['call']): (...args: unknown[]) => object {
  return (...args) => {
    const answer = call('fetch', fetchArguments(args)) as { status: number; headers: Items; text: string };
    const json = once(() => jsonOf(answer.text));
    return {
      status: answer.status,
      ok: answer.status >= 200 && answer.status <= 299,
      headers: answer.headers,
      text: answer.text,
      get json() {
        return json();
      },
    };
  };
}

function bodyOf(body: unknown): Json {
  if (Array.isArray(body) || isPlain(body)) return body as Json;
  return hasNoText(body) ? (parse(stringify(body)) as Json) : text(body);
}

/** Whether a value is a record, or another object that is no text of its own, as a URL and a date are. */
const hasNoText = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (stateOf(value) !== undefined || value.toString === Object.prototype.toString);

function jsonOf(json: string): Json {
  try {
    return parse(json) as Json;
  } catch {
    return null;
  }
}
