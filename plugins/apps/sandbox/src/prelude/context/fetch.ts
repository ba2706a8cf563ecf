import type { Items, Json } from '../../../../shared/json';
import { isPlain, named } from '../arguments';
import { once } from '../once';
import { parse, text } from '../primordials';
import type { Records } from '../records/records';

/** The arguments of a call, as the server takes them: an object or a list as body is JSON, anything else is text. */
export function fetchArguments(args: readonly unknown[]): Items {
  const { url, body, ...rest } = named(args, ['url']) as Items;
  const options = body === undefined ? rest : { ...rest, body: isJson(body) ? body : text(body) };
  return { url: url === undefined ? null : text(url), options };
}

/** `context.fetch`: the server makes the call; `ok` and `json` are made here, of the server's answer. */
export function createFetch(call: Records['call']): (...args: unknown[]) => object {
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

const isJson = (body: unknown): boolean => Array.isArray(body) || isPlain(body);

function jsonOf(json: string): Json {
  try {
    return parse(json) as Json;
  } catch {
    return null;
  }
}
