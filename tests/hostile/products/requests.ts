import type { Message } from '../../support/send';
import type { Plan } from './plan';

/** A request that a visitor can send, as large as its bounds allow. `{id}` stands for the block's id. */
export type MakeRequest = (plan: Plan) => Partial<Message>;

const block = '/site/@@apps/attack/blocks/{id}';
const html = { accept: 'text/html' };
const form = { ...html, 'content-type': 'application/x-www-form-urlencoded' };
/** The first record that a plan makes. */
const record = '/site/@@apps/attack/record/r0';

/** Bytes of a body, a little below its bound. */
const MAX_BODY = 1_000_000;
/** Fields of a form, a little below their bound. */
const MAX_FIELDS = 990;

function encoded({ fields }: Plan, ...more: [string, string][]): string {
  const all = [...more, ...fields.slice(0, MAX_FIELDS - more.length)];
  const text = new URLSearchParams(all).toString();
  return text.length > MAX_BODY ? text.slice(0, text.lastIndexOf('&', MAX_BODY)) : text;
}

/** The fields as a browser sends a form that has files. */
function parts({ fields }: Plan, ...more: [string, string][]): string {
  const all = [...more, ...fields.slice(0, MAX_FIELDS - more.length)];
  const texts = all.map(([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`);
  let size = 0;
  const some = texts.filter((text) => {
    size += text.length;
    return size < MAX_BODY;
  });
  return `${some.join('')}--b--\r\n`;
}

const multipart = { ...html, 'content-type': 'multipart/form-data; boundary=b' };

/** The items of a JSON client for the fields of the form. */
function itemsOf({ fields, items }: Plan): Record<string, unknown> {
  const all: Record<string, unknown> = { ...items };
  for (const [name, value] of fields) {
    if (name.includes(':') || name.startsWith('_')) continue;
    all[name] = name in all && Array.isArray(all[name]) ? [...(all[name] as unknown[]), value] : value;
  }
  return all;
}

/** As many lines as a body may have. */
function lines(plan: Plan, more: object): string {
  const line = `${JSON.stringify({ ...itemsOf(plan), ...more })}\n`;
  return line.repeat(Math.max(1, Math.min(1_000, Math.floor(MAX_BODY / line.length))));
}

const ndjson = { 'content-type': 'application/x-ndjson' };
const conditions = Array.from({ length: 100 }, (_, at) => `title != "x${at}"`).join(' & ');

/** Requests that only managers may send. */
export const ofManagers: ReadonlySet<string> = new Set(['description']);

export const requests: Record<string, MakeRequest> = {
  page: () => ({ method: 'GET', path: block, headers: html }),
  'page as JSON': () => ({ method: 'GET', path: block }),
  'page with parameters': () => ({
    method: 'GET',
    path: `${block}?${Array.from({ length: 500 }, (_, at) => `p${at}=${at}`).join('&')}`,
    headers: { ...html, 'accept-language': Array.from({ length: 300 }, (_, at) => `a${at % 26}-B${at};q=0.5`).join() },
  }),
  save: (plan) => ({ path: block, headers: form, body: encoded(plan, ['_save', '']) }),
  'save wrongly': (plan) => ({ path: block, headers: form, body: encoded(plan, ['_save', '']).replaceAll('x', '') }),
  'save in parts': (plan) => ({ path: block, headers: multipart, body: parts(plan, ['_save', '']) }),
  next: (plan) => ({ path: block, headers: form, body: encoded(plan, ['_next', '']) }),
  'add an entry': (plan) => ({ path: block, headers: form, body: encoded(plan, ['group:add', '']) }),
  'form as JSON': (plan) => ({ path: block, json: { ...itemsOf(plan), _save: '' } }),
  create: (plan) => ({ json: { ...itemsOf(plan), block: '{id}' } }),
  'create without a block': (plan) => ({ json: itemsOf(plan) }),
  'many lines': (plan) => ({ path: '/site/@@apps/attack/records', headers: ndjson, body: lines(plan, {}) }),
  'many lines of the block': (plan) => ({
    path: '/site/@@apps/attack/records',
    headers: ndjson,
    body: lines(plan, { block: '{id}' }),
  }),
  list: () => ({ method: 'GET', path: '/site/@@apps/attack/records?limit=10000' }),
  'list as lines': () => ({
    method: 'GET',
    path: '/site/@@apps/attack/records',
    headers: { accept: 'application/x-ndjson' },
  }),
  'list as CSV': () => ({ method: 'GET', path: '/site/@@apps/attack/records.csv' }),
  'list as XLSX': () => ({ method: 'GET', path: '/site/@@apps/attack/records.xlsx' }),
  search: () => ({
    path: '/site/@@apps/attack/search',
    json: { query: 'id != null', sort_index: 'id', limit: 10_000 },
  }),
  'search with conditions': () => ({
    path: '/site/@@apps/attack/search',
    json: { query: conditions, with_total: true },
  }),
  'search as CSV': () => ({ method: 'GET', path: '/site/@@apps/attack/search.csv?limit=10000' }),
  record: () => ({ method: 'GET', path: record, headers: html }),
  'record as form': () => ({ method: 'GET', path: `${record}/edit`, headers: html }),
  'change of a record': (plan) => ({ path: record, headers: form, body: encoded(plan, ['_save', '']) }),
  patch: (plan) => ({ method: 'PATCH', path: record, json: itemsOf(plan) }),
  description: () => ({ method: 'GET', path: '/site/@@apps/attack/openapi.json' }),
};
