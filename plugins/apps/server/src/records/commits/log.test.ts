import { expect, test } from 'vitest';
import type { RecordWrite } from '../../indexes';
import { Ranges } from '../unit/reads';
import type { CommitCounts } from './commits';
import { type Changes, CommitLog, type Position } from './log';

const counts: CommitCounts = {
  prepare: async () => {},
  count: async () => () => {},
  known: () => '',
  isFresh: () => false,
  refresh: async () => {},
  isCertain: () => true,
  seen: async () => new Map(),
  look: async (scopes) => new Map(scopes.map((scope) => [scope, ''])),
};
const created = (id: string): RecordWrite => ({ before: null, after: { seq: 1, id, items: {}, creator: null } });
const changes = (id: string, scope = 'app'): Changes => new Map([[scope, [created(id)]]]);
const idsSince = (log: CommitLog, position: Position) =>
  log.since(position, 'app', 1_000_000, () => false)?.writes.map(({ after }) => after?.id) ?? null;

test('a read may miss what is being committed when it begins and what comes later, and nothing else', () => {
  const log = new CommitLog();
  const unwatch = log.watch();
  const [endOpen, endDone] = [log.append(changes('open')), log.append(changes('done'))];
  endDone();
  const position = log.position();
  log.append(changes('later'))();
  expect(idsSince(log, position)).toEqual(['open', 'later']);
  endOpen();
  expect(idsSince(log, position)).toEqual(['open', 'later']);
  expect(idsSince(log, log.position())).toEqual([]);
  unwatch();
  expect(idsSince(log, position)).toBeNull();
});

test('the log stays bounded while a transaction is open', () => {
  const log = new CommitLog();
  log.append(changes('open', 'other'));
  const unwatch = log.watch();
  const begin = log.position();
  for (let at = 0; at < 6_000; at += 1) log.append(changes(`r${at}`))();
  expect(idsSince(log, begin)).toBeNull();
  unwatch();
  expect(idsSince(log, begin)).toBeNull();
  expect(idsSince(log, log.position())).toEqual([]);
});

test('open transactions with very many records keep their number', () => {
  const log = new CommitLog();
  const ends = Array.from({ length: 6_000 }, (_, at) => log.append(changes(`r${at}`)));
  expect(idsSince(log, log.position())).toBeNull();
  for (const end of ends) end();
  expect(idsSince(log, log.position())).toEqual([]);
});

test('a search that begins after the end of its unit keeps nothing', async () => {
  const log = new CommitLog();
  const ranges = new Ranges(log, counts);
  const read = {
    scope: 'app',
    name: 'all',
    asks: '',
    has: () => true,
    isCount: true,
    again: async () => ({ records: [] }),
  };
  ranges.begin(read);
  ranges.end();
  ranges.begin(read)({ records: [] });
  expect(ranges.length).toBe(0);
  const position = log.position();
  log.append(changes('later'))();
  expect(idsSince(log, position)).toBeNull();
});

test('a read that is made again is one, unless it finds something else', async () => {
  const log = new CommitLog();
  let version = '';
  const changing = {
    ...counts,
    look: async (scopes: readonly string[]) => new Map(scopes.map((scope) => [scope, version])),
  };
  const ranges = new Ranges(log, changing);
  let total = 1;
  const again = async () => ({ records: [], total });
  const read = { scope: 'app', name: 'all', asks: '', has: () => true, isCount: true, again };
  for (let at = 0; at < 3; at += 1) ranges.begin(read)(await again());
  expect(ranges.length).toBe(1);
  version = 'another process';
  const compare = () => ranges.compare(undefined, async () => {});
  await compare();
  total = 2;
  ranges.begin(read)(await again());
  total = 1;
  version = 'and again';
  await expect(compare()).rejects.toThrow('changed');
  ranges.restore(0);
  ranges.begin(read)(await again());
  await compare();
  ranges.end();
});

test('a thousand searches are compared with the changes of their app alone', async () => {
  const log = new CommitLog();
  const ranges = new Ranges(log, counts);
  const found = { records: [], total: 0 };
  let compared = 0;
  const has = () => {
    compared += 1;
    return false;
  };
  for (let at = 0; at < 1_000; at += 1)
    ranges.begin({ scope: 'app', name: `${at}`, asks: '', has, isCount: true, again: async () => found })(found);
  let looked = 0;
  class Others extends Map<string, RecordWrite[]> {
    override get(scope: string) {
      looked += 1;
      return super.get(scope);
    }
  }
  for (let at = 0; at < 4_000; at += 1) log.append(new Others([['other', [created(`r${at}`)]]]))();
  looked = 0;
  log.append(changes('own'))();
  await ranges.compare(undefined, async () => {});
  expect([compared, looked]).toEqual([1_000, 0]);
  ranges.end();
});

test.each([
  ['short', 0],
  ['of a hundred phrases', 1],
])('a condition that is %s is compared with a long text, or searched again', async (name, searchesAgain) => {
  const log = new CommitLog();
  const ranges = new Ranges(log, counts);
  let again = 0;
  const found = { records: [], total: 0 };
  const search = async () => {
    again += 1;
    return found;
  };
  const condition = name === 'short' ? name : "'some words' in body ".repeat(100);
  ranges.begin({ scope: 'app', name: condition, asks: '', has: () => false, isCount: true, again: search })(found);
  const after = { seq: 1, id: 'r', items: { body: 'word '.repeat(40_000) }, creator: null };
  log.append(new Map([['app', [{ before: null, after }]]]))();
  await ranges.compare(undefined, async () => {});
  // With many phrases it would read the text of the record as many times.
  expect(again).toBe(searchesAgain);
  ranges.end();
});
