import { expect, test } from 'vitest';
import { inputOf, shownAddress, withoutSecrets } from '.';
import { RunRing } from './table';
import type { NewRun, RunInput } from './types';

const run = (more: Partial<NewRun> = {}): NewRun => ({
  at: '2026-01-01T00:00:00.000Z',
  site: 'site',
  app: 'notes',
  block: 'a',
  state: 'done',
  calls: [{ app: 'notes', block: 'a', functions: ['on_display'] }],
  method: 'GET',
  address: '/site',
  requester: { identity: '', name: null },
  time: 1,
  memory: 0,
  hostCalls: 0,
  cache: null,
  error: null,
  rule: null,
  job: null,
  hasInput: false,
  logs: [],
  input: null,
  ...more,
});

const event = { event: 'create' as const, contentType: 'api::a.a', documentId: 'd', locale: null, published: true };

const filled = (size: number, count: number) => {
  const ring = new RunRing(size);
  for (let n = 1; n <= count; n += 1) ring.add(run({ address: `/${n}` }));
  return ring;
};
const addresses = (page: { runs: { address: string }[] }) => page.runs.map(({ address }) => address);

test('only the latest runs are kept, the latest first', () => {
  expect(addresses(filled(3, 5).list({}))).toEqual(['/5', '/4', '/3']);
  expect(addresses(filled(0, 5).list({}))).toEqual([]);
});

test('large runs push out earlier ones before the number is reached', () => {
  const ring = new RunRing(1_000);
  const logs = Array.from({ length: 50 }, () => ({
    app: 'a',
    block: null,
    line: 1,
    level: 'info',
    message: 'x'.repeat(1_000),
  }));
  for (let n = 0; n < 1_000; n += 1) ring.add(run({ logs }));
  expect(ring.list({ limit: 200 }).older).not.toBeNull();
  let [count, before] = [0, undefined as string | undefined];
  do {
    const page = ring.list({ limit: 200, ...(before && { before }) });
    count += page.runs.length;
    before = page.older ?? undefined;
  } while (before);
  expect(count).toBeGreaterThan(200);
  expect(count).toBeLessThan(320);
});

test('a tail gives each run once, and a page each older one once', () => {
  const ring = filled(10, 2);
  const { cursor } = ring.list({});
  expect(ring.list({ after: cursor as string }).runs).toEqual([]);
  ring.add(run({ address: '/3' }));
  ring.add(run({ address: '/4' }));
  expect(addresses(ring.list({ after: cursor as string }))).toEqual(['/4', '/3']);
  const first = ring.list({ limit: 3 });
  expect(addresses(first)).toEqual(['/4', '/3', '/2']);
  const second = ring.list({ limit: 3, before: first.older as string });
  expect([addresses(second), second.older]).toEqual([['/1'], null]);
});

test.each(['', 'x', '1', 'ffffffff-1', '-1', '1-'])('a cursor of another process counts for nothing: %j', (after) => {
  expect(addresses(filled(5, 2).list({ after }))).toEqual(['/2', '/1']);
});

test.each([
  [{ app: 'notes' }, 4],
  [{ app: 'other' }, 0],
  [{ site: 'fr' }, 0],
  [{ state: 'failed' as const }, 1],
  [{ block: 'b' }, 1],
  [{ requester: 'anonymous' }, 3],
  [{ requester: 'anna' }, 1],
  [{ requester: 'user:1' }, 1],
  [{ requester: '' }, 3],
  [{ rule: 'r1' }, 1],
  [{ rule: 'r2' }, 0],
  [{ job: 'j1' }, 1],
  [{ job: 'j2' }, 0],
])('the filter %j finds %d runs', (filter, count) => {
  const ring = new RunRing(10);
  ring.add(run());
  ring.add(run({ state: 'failed', calls: [{ app: 'notes', block: 'b', functions: [] }] }));
  ring.add(run({ requester: { identity: 'user:1', name: 'anna' }, rule: { id: 'r1', ...event } }));
  ring.add(run({ job: { id: 'j1', kind: 'function', attempt: 2 } }));
  expect(ring.list(filter).runs).toHaveLength(count);
});

test('failed runs of the last day are counted, up to 100', () => {
  const ring = new RunRing(500);
  const key = { site: 'site', app: 'notes' };
  const add = (count: number, more: Partial<NewRun>) => {
    for (let n = 0; n < count; n += 1) ring.add(run({ state: 'failed', at: new Date().toISOString(), ...more }));
  };
  add(2, {});
  add(1, { state: 'refused' });
  add(1, { app: 'other' });
  add(1, { at: new Date(Date.now() - 25 * 60 * 60 * 1_000).toISOString() });
  expect(ring.failed(key)).toBe(2);
  add(200, {});
  expect(ring.failed(key)).toBe(100);
});

test.each([
  ['http://here/site/x?a=1&token=abc', '/site/x?a=1&token=(hidden)'],
  ['/x?pass%77ord=abc&b', '/x?pass%77ord=(hidden)&b'],
  ['/x?%E0%A4%A=1', '/x?%E0%A4%A=1'],
  ['https://here', ''],
])('the address of %s is %j', (url, address) => {
  expect(shownAddress(url)).toBe(address);
});

const input = (more: Partial<RunInput>): RunInput => ({
  method: 'POST',
  url: '/x',
  query: {},
  form: {},
  body: null,
  headers: {},
  contentPath: '',
  call: null,
  ...more,
});

test('secrets of an input are not kept, at any depth', () => {
  const kept = inputOf(
    input({
      form: { name: 'Anna', password: 'x', 'new-Password': 'x', api_key: 'x' },
      body: { list: [{ accessToken: 'x', text: 'y' }] },
      query: { session: 'x', q: 'y' },
      headers: { accept: 'text/html', cookie: 'x', authorization: 'x', 'x-forwarded-for': 'x' },
      call: { block: 'a', name: 'f', params: { secret: { deep: 'x' } } },
    }),
  );
  expect(kept).toMatchObject({
    form: { name: 'Anna', password: '(hidden)', 'new-Password': '(hidden)', api_key: '(hidden)' },
    body: { list: [{ accessToken: '(hidden)', text: 'y' }] },
    query: { session: '(hidden)', q: 'y' },
    headers: { accept: 'text/html' },
    call: { params: { secret: '(hidden)' } },
  });
  expect(Object.keys(kept?.headers ?? {})).toEqual(['accept']);
});

test('a large input is not kept', () => {
  expect(inputOf(input({ form: { text: 'x'.repeat(100_000) } }))).toBeNull();
});

test('what a job was given is shown without secrets, also those of addresses', () => {
  const given = {
    url: 'https://anna:pw@chat.example:8443/hook?token=abc&room=1',
    params: { password: 'x', list: ['http://here/a', 'not http://x?token=y'] },
    headers: { authorization: 'x', 'x-room': '1' },
  };
  expect(withoutSecrets(given)).toEqual({
    url: 'https://(hidden)@chat.example:8443/hook?token=(hidden)&room=1',
    params: { password: '(hidden)', list: ['http://here/a', 'not http://x?token=y'] },
    headers: { authorization: '(hidden)', 'x-room': '1' },
  });
});
