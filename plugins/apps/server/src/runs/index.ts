import type { Core } from '@strapi/strapi';
import type { Items, Json } from '../../../shared/json';
import type { Logger } from '../common/log';
import { percentDecoded } from '../common/text';
import type { AppsConfig } from '../config.types';
import { RunRing, RunTable } from './table';
import type { RunInput, RunLog } from './types';

/** Names of fields and parameters whose values are never kept. */
const secretName =
  /pass|pwd|secret|token|otp|auth|cookie|session|csrf|credential|signature|api[-_]?key|^key$|^code$|^pin$|iban|cvc|cvv|card/i;

/** Headers that are kept: none of them carries a credential. */
const keptHeaders = new Set(['accept', 'accept-language', 'content-type', 'user-agent', 'x-requested-with']);

/** Characters of an input as JSON; a larger one is not kept. */
const MAX_INPUT = 64 * 1024;
/** Depth of an input; deeper values are not kept. */
const MAX_DEPTH = 20;
const MAX_ADDRESS = 500;

/** Stands for a secret. */
const HIDDEN = '(hidden)';

/** A text with at most `length` characters. */
export const safeText = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length)}…` : text;

/** Path and query of a URL, without its secrets. */
export function shownAddress(url: string): string {
  const [before = '', query] = url.replace(/^\w+:\/\/[^/]*/, '').split('?', 2);
  if (query === undefined) return safeText(before, MAX_ADDRESS);
  const parts = query
    .slice(0, MAX_ADDRESS * 4)
    .split('&')
    .map((part) => {
      const [name = '', value] = part.split('=', 2);
      return value !== undefined && secretName.test(percentDecoded(name) ?? name) ? `${name}=${HIDDEN}` : part;
    });
  return safeText(`${before}?${parts.join('&')}`, MAX_ADDRESS);
}

/** What a run was given, without its secrets; null where it is too large to be kept. */
export function inputOf(given: RunInput): RunInput | null {
  const { call } = given;
  const headers = Object.entries(given.headers).filter(([name]) => keptHeaders.has(name.toLowerCase()));
  const input: RunInput = {
    ...given,
    url: shownAddress(given.url),
    query: clean(given.query) as Items,
    form: clean(given.form) as Items,
    body: clean(given.body),
    headers: Object.fromEntries(headers),
    call: call && { ...call, params: clean(call.params) as Items },
  };
  const isSmall = shownAddress(given.url).length <= MAX_ADDRESS && JSON.stringify(input).length <= MAX_INPUT;
  return isSmall ? input : null;
}

/** Items without their secrets, and without those of addresses in them. */
export const withoutSecrets = (items: Items): Items =>
  JSON.parse(JSON.stringify(clean(items)), (_name, value: Json) =>
    typeof value === 'string' && URL_TEXT.test(value) ? urlOf(value) : value,
  ) as Items;

function clean(value: Json, depth = 0): Json {
  if (value === null || typeof value !== 'object') return value;
  if (depth > MAX_DEPTH) return null;
  if (Array.isArray(value)) return value.map((one) => clean(one, depth + 1));
  const entries = Object.entries(value).map(([name, one]): [string, Json] => [
    name,
    secretName.test(name) ? HIDDEN : clean(one, depth + 1),
  ]);
  return Object.fromEntries(entries);
}

const URL_TEXT = /^\w+:\/\/[^/]/;

/** A URL without a password, and without the secrets of its query. */
function urlOf(url: string): string {
  const [origin = ''] = /^\w+:\/\/[^/?#]*/.exec(url) ?? [];
  const rest = url.slice(origin.length);
  const query = rest.includes('?') ? shownAddress(rest) : rest;
  return origin.replace(/\/\/[^@]*@/, `//${HIDDEN}@`) + query;
}

export type * from './types';

interface RunLogOptions {
  strapi: Core.Strapi;
  logger: Logger;
  config: AppsConfig['runs'];
}

/**
 * The latest runs: `keep` of this process in memory; with `store`, that number in the host's database, which then answers
 * every question, for all server processes.
 */
export function createRunLog({ strapi, logger, config: { keep, store } }: RunLogOptions): RunLog {
  const ring = new RunRing(keep);
  const table = store > 0 ? new RunTable(strapi, logger, store) : null;
  return {
    size: Math.max(keep, store),
    add(run) {
      const kept = ring.add(run);
      table?.add(kept);
    },
    list: async (query) => (table ?? ring).list(query),
    find: async (id) => (table ?? ring).find(id),
    failed: async (app) => (table ?? ring).failed(app),
    inMemory: () => (table ? [] : ring.all()),
    forget: (id) => ring.remove(id),
    destroy: async () => table?.flush(),
  };
}
