import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openStream } from './stream';

/** Connections as a browser has them: those that are open, and what the server sends. */
class Source {
  static readonly CLOSED = 2;
  static all: Source[] = [];
  readyState = 1;
  onerror = () => {};
  private handlers = new Map<string, (event: object) => void>();

  constructor(url: URL) {
    this.since = url.searchParams.get('since');
    Source.all.push(this);
  }

  readonly since: string | null;

  addEventListener(name: string, handler: (event: object) => void): void {
    this.handlers.set(name, handler);
  }

  sends(name: string, lastEventId: string, data = ''): void {
    this.handlers.get(name)?.({ data, lastEventId });
  }

  close(): void {
    this.readyState = Source.CLOSED;
  }
}

beforeEach(() => {
  Source.all = [];
  vi.useFakeTimers();
  vi.stubGlobal('window', globalThis);
  vi.stubGlobal('EventSource', Source);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const opened = () => {
  const on = { opened: vi.fn(), alive: vi.fn(), changed: vi.fn() };
  const stream = openStream(new URL('http://localhost/live'), ['t'], 'process_.1', on);
  return { on, stream, of: (at: number) => Source.all[at] as Source };
};
const open = () => Source.all.filter(({ readyState }) => readyState !== Source.CLOSED).length;

test('a connection that says nothing for a minute is opened again from where it was', () => {
  const { on, stream, of } = opened();
  of(0).sends('alive', 'process_.2');
  for (let at = 3; at < 8; at += 1) {
    vi.advanceTimersByTime(25_000);
    of(0).sends('alive', `process_.${at}`);
  }
  of(0).sends('change', 'process_.9', 't');
  expect([Source.all.length, of(0).since, on.opened.mock.calls.length]).toEqual([1, 'process_.1', 1]);
  vi.advanceTimersByTime(61_000);
  expect([Source.all.length, open(), of(1).since]).toEqual([2, 1, 'process_.9']);
  expect([stream.opened, stream.known()]).toEqual([undefined, 'process_.9']);
  of(1).sends('alive', 'process_.20');
  expect([on.opened.mock.calls.length, stream.opened?.position]).toEqual([2, 'process_.20']);
  stream.close();
  vi.advanceTimersByTime(200_000);
  expect([Source.all.length, open()]).toEqual([2, 0]);
});

test('what is known is what the server has said, however long ago', () => {
  const { stream, of } = opened();
  expect(stream.known()).toBeUndefined();
  of(0).sends('alive', 'process_.2');
  vi.advanceTimersByTime(30_000);
  expect(stream.known()).toBe('process_.2');
  stream.close();
});

test('a refused connection is tried again after half a minute', () => {
  const { stream, of } = opened();
  of(0).close();
  of(0).onerror();
  vi.advanceTimersByTime(29_000);
  expect(Source.all.length).toBe(1);
  vi.advanceTimersByTime(2_000);
  expect([Source.all.length, of(1).since]).toEqual([2, 'process_.1']);
  stream.close();
});
