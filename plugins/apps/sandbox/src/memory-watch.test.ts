import { describe, expect, test, vi } from 'vitest';
import { createMemoryWatch, type Watched } from './memory-watch';

const megabyte = 1024 * 1024;

/** A watch over a process of 4 isolates of 64 MB: the bound is 256 MB without a session, 320 with one, 384 with two. */
function watched(alone = false) {
  const sessions = new Map<number, Watched>();
  const unhealthy = vi.fn();
  let resident = 100;
  const watch = createMemoryWatch({
    sessions,
    isolates: 4,
    memory: 64,
    alone,
    resident: () => resident * megabyte,
    unhealthy,
  });
  let id = 0;
  return {
    unhealthy,
    /** Opens a session that uses `processorTime` milliseconds; `ended` lists the reasons for which it was ended. */
    open(processorTime = 1000) {
      id += 1;
      const own = id;
      const ended: string[] = [];
      const close = (mayRun = false) => {
        watch.ended(session, mayRun);
        sessions.delete(own);
      };
      const fail: Watched['fail'] = (reason) => {
        close();
        ended.push(reason);
      };
      const session = { before: watch.last, processorTime, isDisposed: false, fail };
      sessions.set(own, session);
      return { ended, close, session, gone: () => watch.gone(session) };
    },
    /** Measures once for each size, in megabytes, of the process. */
    measure(...megabytes: number[]) {
      for (const one of megabytes) {
        resident = one;
        watch.measure();
      }
    },
  };
}

test('the only session, by which the process has grown, is to blame', () => {
  const { open, measure, unhealthy } = watched();
  measure(100);
  const { ended } = open();
  measure(319);
  expect(ended).toEqual([]);
  measure(400);
  expect(ended).toEqual(['memory']);
  expect(unhealthy).not.toHaveBeenCalled();
});

test('the busiest of several sessions is ended with "crowded", not with "memory"', () => {
  const { open, measure } = watched();
  const [busy, quiet] = [open(900), open(300)];
  measure(600);
  expect([busy.ended, quiet.ended]).toEqual([['crowded'], []]);
  measure(600);
  expect(quiet.ended).toEqual(['crowded']);
});

describe('other sessions since the last measurement before it began', () => {
  test.each([
    ['have used hardly any processor time: it is to blame', 20, 'memory'],
    ['have computed: it may not be to blame', 60, 'crowded'],
  ])('%s', (_, time, reason) => {
    const { open, measure } = watched();
    open(1000).close();
    measure(100);
    open(time).close();
    const { ended } = open();
    open(time / 2);
    measure(600);
    expect(ended).toEqual([reason]);
  });

  test('one whose isolate still runs after its end counts until that is over', () => {
    const { open, measure } = watched();
    const first = open(1000);
    first.close(true);
    measure(100);
    const { ended } = open(300);
    first.session.processorTime += 60;
    first.gone();
    measure(600);
    expect(ended).toEqual(['crowded']);
  });

  test('their processor time before that measurement does not count', () => {
    const { open, measure } = watched();
    const first = open();
    measure(100);
    const { ended } = open(900);
    first.close();
    measure(600);
    expect(ended).toEqual(['memory']);
  });
});

test('an isolate that is disposed of already is not ended again', () => {
  const { open, measure } = watched();
  const { ended, session } = open();
  session.isDisposed = true;
  measure(600);
  expect(ended).toEqual([]);
});

test('in a process for one session, that session is to blame', () => {
  const { open, measure } = watched(true);
  open().close();
  const { ended } = open();
  measure(600);
  expect(ended).toEqual(['memory']);
});

test('memory from before a session is not its fault: the session continues, the runner is reported', () => {
  const { open, measure, unhealthy } = watched();
  const swelling = open();
  measure(240);
  swelling.close();
  measure(250);
  const { ended } = open();
  measure(330, 340, 370);
  expect(ended).toEqual([]);
  expect(unhealthy).toHaveBeenCalledTimes(1);
});

test('a growing session in a swollen runner is ended nevertheless', () => {
  const { open, measure, unhealthy } = watched();
  measure(315);
  const { ended } = open();
  measure(500);
  expect(ended).toEqual(['memory']);
  expect(unhealthy).not.toHaveBeenCalled();
});

test('a swollen runner without sessions is given up, unless its memory comes back', () => {
  const { measure, unhealthy } = watched();
  measure(400, 400, 400, 200);
  expect(unhealthy).not.toHaveBeenCalled();
  measure(400, 400, 400, 400, 400);
  expect(unhealthy).toHaveBeenCalledTimes(1);
});

test('a runner that was idle for twelve seconds has a lower bound', () => {
  const { open, measure, unhealthy } = watched();
  measure(...Array<number>(230).fill(250));
  open().close();
  const { close } = open();
  measure(250);
  close();
  measure(...Array<number>(239).fill(250));
  expect(unhealthy).not.toHaveBeenCalled();
  measure(...Array<number>(4).fill(250));
  expect(unhealthy).toHaveBeenCalledTimes(1);
});

test('a session without processor time is not to blame; if the memory stays, the runner is given up', () => {
  const { open, measure, unhealthy } = watched();
  const { ended } = open(20);
  measure(...Array<number>(19).fill(600));
  expect(unhealthy).not.toHaveBeenCalled();
  measure(600);
  expect(ended).toEqual([]);
  expect(unhealthy).toHaveBeenCalledTimes(1);
});
