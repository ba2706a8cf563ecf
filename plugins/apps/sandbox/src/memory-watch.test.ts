import { expect, test, vi } from 'vitest';
import { createMemoryWatch, type Watched } from './memory-watch';

const megabyte = 1024 * 1024;

/** A watch over a process of 4 isolates of 64 MB: 256 MB are well without a session, 320 with one, 384 with two. */
function watched(alone = false) {
  const sessions = new Map<number, Watched>();
  const sick = vi.fn();
  let resident = 100;
  const watch = createMemoryWatch({
    sessions,
    isolates: 4,
    memory: 64,
    alone,
    resident: () => resident * megabyte,
    sick,
  });
  let id = 0;
  return {
    sick,
    /** Opens a session that uses so many milliseconds of processor time; `ended` says how it was ended. */
    open(processorTime = 1000) {
      id += 1;
      const own = id;
      const ended: string[] = [];
      const fail: Watched['fail'] = (reason) => {
        sessions.delete(own);
        ended.push(reason);
      };
      const session: Watched = { shared: false, memoryBefore: watch.last, processorTime, fail };
      sessions.set(own, session);
      watch.begun(session);
      return { ended, close: () => sessions.delete(own) };
    },
    /** The process has so many megabytes when it is looked at, each time. */
    look(...megabytes: number[]) {
      for (const one of megabytes) {
        resident = one;
        watch.look();
      }
    },
  };
}

test('the only session, by which the process has grown, is to blame', () => {
  const { open, look, sick } = watched();
  look(100);
  const { ended } = open();
  look(319);
  expect(ended).toEqual([]);
  look(400);
  expect(ended).toEqual(['memory']);
  expect(sick).not.toHaveBeenCalled();
});

test('of several the one with the most processor time is ended, and not blamed', () => {
  const { open, look } = watched();
  const [busy, quiet] = [open(900), open(300)];
  look(600);
  expect([busy.ended, quiet.ended]).toEqual([['crowded'], []]);
  look(600);
  expect(quiet.ended).toEqual(['crowded']);
});

test('one that follows a session since the last look is not blamed either', () => {
  const { open, look } = watched();
  open().close();
  const { ended } = open();
  look(600);
  expect(ended).toEqual(['crowded']);
});

test('one that was there at the last look, and has left before another came, is counted too', () => {
  const { open, look } = watched();
  const first = open();
  look(100);
  first.close();
  const second = open();
  look(600);
  expect(second.ended).toEqual(['crowded']);
});

test('in a process for one session there is no doubt', () => {
  const { open, look } = watched(true);
  open().close();
  const { ended } = open();
  look(600);
  expect(ended).toEqual(['memory']);
});

test('memory that was there before a session is the runner’s: the session goes on, the runner is given up', () => {
  const { open, look, sick } = watched();
  const swelling = open();
  look(240);
  swelling.close();
  look(250);
  const { ended } = open();
  look(330, 340, 370);
  expect(ended).toEqual([]);
  expect(sick).toHaveBeenCalledTimes(1);
});

test('who grows in a swollen runner is ended nevertheless', () => {
  const { open, look, sick } = watched();
  look(315);
  const { ended } = open();
  look(500);
  expect(ended).toEqual(['memory']);
  expect(sick).not.toHaveBeenCalled();
});

test('a swollen runner without sessions is given up, unless its memory comes back', () => {
  const { look, sick } = watched();
  look(400, 400, 400, 200);
  expect(sick).not.toHaveBeenCalled();
  look(400, 400, 400, 400, 400);
  expect(sick).toHaveBeenCalledTimes(1);
});

test('a session without processor time is not to blame; if the memory stays, the runner is given up', () => {
  const { open, look, sick } = watched();
  const { ended } = open(20);
  look(...Array<number>(19).fill(600));
  expect(sick).not.toHaveBeenCalled();
  look(600);
  expect(ended).toEqual([]);
  expect(sick).toHaveBeenCalledTimes(1);
});
