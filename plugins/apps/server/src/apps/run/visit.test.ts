import { expect, test } from 'vitest';
import type { Requester } from '../../auth/types';
import type { LogEntry, LogicBudget, RequestData } from '../../logic/types';
import type { ContentItem, Site } from '../../sites/types';
import type { OwnLink } from './types';
import { callVisit, formTokens, makeVisit, type Visit } from './visit';
import { provenanceOf } from './visits';

const site = { id: 'site', url: 'http://here/site' } as Site;
const content = { url: 'http://here/site/news', path: '/news', documentId: 'a' } as ContentItem;
const requester = { identity: 'user:1', kind: 'user' } as Requester;
const requesters = { csrf: { issue: () => 'token' } } as never;
const request: RequestData = {
  method: 'POST',
  url: 'http://here/site/news',
  path: '/site/news',
  query: { q: 'a' },
  form: { name: 'Ann' },
  body: null,
  headers: { accept: 'text/html' },
};
const entry = (app: string): LogEntry => ({ app, block: null, line: null, message: app });

/** A visit, and how often its request was made. */
function visited(pendingLog: LogEntry[] = [], own?: OwnLink) {
  let reads = 0;
  const visit = makeVisit({
    site,
    content,
    contentPath: 'news',
    requester,
    pendingLog,
    own,
    view: 'list',
    origin: { kind: 'request', through: 'form' },
    readRequest() {
      reads += 1;
      return request;
    },
    writes: { records: true, content: true },
    params: { a: 1 },
    tokens: formTokens(requesters, requester),
  });
  return { visit, reads: () => reads };
}

const derivations: [string, (visit: Visit) => Visit, Partial<RequestData>][] = [
  ['for an app', (visit) => visit.forApp('poll'), request],
  ['with other log entries', (visit) => visit.withPending([]), request],
  ['without its draft', (visit) => visit.withoutDraft(), request],
  ['with other fields', (visit) => visit.withForm({ name: 'Bob' }), { ...request, form: { name: 'Bob' } }],
  ['that can write nothing', (visit) => visit.readOnly(), { ...request, method: 'GET', form: {}, body: null }],
];

test('the blocks of a theme do not see what the holder of a link has', () => {
  const { visit } = visited([], { app: 'poll', block: 'vote', record: '1' } as OwnLink);
  expect(visit.own?.record).toBe('1');
  expect(visit.readOnly().own).toBeUndefined();
});

test.each(derivations)('a visit %s makes its request only when it is looked at', (_, derive, expected) => {
  const { visit, reads } = visited();
  const derived = derive(visit);
  expect(reads()).toBe(0);
  expect(derived.request).toEqual(expected);
  expect(reads()).toBe(1);
  expect(visit.request).toEqual(request);
});

test('a visit that can write nothing leaves the one behind it as it was', () => {
  const { visit } = visited();
  expect(visit.readOnly()).toMatchObject({ writes: { records: false, content: false }, params: {}, view: undefined });
  expect(visit).toMatchObject({ writes: { records: true, content: true }, params: { a: 1 }, view: 'list' });
});

test('a block has a request of its own, the log entries of its app, and the console of its own failure', () => {
  const { visit } = visited([entry('poll'), entry('news')]);
  const own: RequestData = { ...request, method: 'GET', url: 'http://here/site/@@apps/poll/blocks/vote', form: {} };
  const block = visit.forBlock('poll', own, {} as LogicBudget);
  expect(block).toMatchObject({ request: own, parentRequest: request, view: undefined, pendingLog: [entry('poll')] });
  expect(visit.pendingLog).toEqual([entry('news')]);
  block.noteFailed([entry('poll')]);
  expect(visit.failedLog).toBeUndefined();
});

test('the console of a failure is that of all visits of one request', () => {
  const { visit } = visited();
  visit.forApp('poll').noteFailed([entry('poll')]);
  expect(visit.failedLog).toEqual([entry('poll')]);
});

test('the forms of an answer share one token, and say whether there is one', () => {
  const { visit } = visited();
  expect(visit.tokens.isIssued()).toBe(false);
  expect(visit.withForm({}).csrfToken()).toBe('token');
  expect(visit.tokens.isIssued()).toBe(true);
});

const job = { id: '1', kind: 'function', attempt: 1 } as never;
const rule = { event: 'create' } as never;

test.each([
  ['code', {}, { isCall: true, job: undefined, rule: undefined }, 'logic'],
  ['a job', { job }, { isCall: true, job, rule: undefined }, 'job'],
  ['a rule', { job, rule }, { isCall: true, job, rule }, 'rule'],
])('a call of %s', (_, more, expected, through) => {
  const call = { site, content, requester, address: 'http://here/site/@@apps/poll?a=1', params: { a: 1 } };
  const visit = callVisit({ requesters }, { ...call, through: 'logic', ...more });
  expect(visit).toMatchObject({ ...expected, contentPath: 'news', isVerified: false, client: undefined });
  expect(visit.request).toMatchObject({ method: 'POST', path: '/site/@@apps/poll', form: {} });
  const by = provenanceOf(visit);
  expect(by).toEqual({ through, requester: expect.any(Function) });
  expect(by.requester()).toBe('user:1');
});
