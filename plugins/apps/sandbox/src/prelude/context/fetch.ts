import type { Items, Json } from '../../../../shared/json';
import { isPlain, named } from '../arguments';
import { once } from '../once';
import { parse, text } from '../primordials';
import type { Records } from '../records/records';

/** `context.fetch`: the server makes the call; `ok` and `json` are made here, of the server's answer. */
export function createFetch(call: Records['call']): (...args: unknown[]) => object {
  return (...args) => {
    const { url, body, ...rest } = named(args, ['url']) as Items;
    const options = body === undefined ? rest : { ...rest, body: isJson(body) ? body : text(body) };
    const address = url === undefined ? null : text(url);
    const answer = call('fetch', { url: address, options }) as { status: number; headers: Items; text: string };
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
