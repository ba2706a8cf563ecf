import { describe, expect, test } from 'vitest';
import type { RecordWrite } from '../../indexes';
import type { CommitCounts, Commits } from './commits';
import { createDependencies, type ScopeReads, type UnitReads } from './dependencies';
import { type Changes, CommitLog } from './log';

/** Dependencies on a log, and on numbers of commits of other processes that a test sets. */
function dependenciesOf() {
  const log = new CommitLog();
  const others = new Map<string, string>();
  const known = new Map<string, string>();
  const read = (scope: string) => others.get(scope) ?? '';
  const state = { isCertain: true };
  const counts: CommitCounts = {
    prepare: async () => {},
    count: async () => () => {},
    known: (scope) => known.get(scope),
    isFresh: () => false,
    async refresh() {
      if (known.get('*') === read('*')) return;
      known.clear();
      known.set('*', read('*'));
    },
    isCertain: () => state.isCertain,
    seen: async () => new Map(),
    async look(scopes) {
      for (const scope of scopes) if (scope !== '*') known.set(scope, read(scope));
      return new Map(scopes.map((scope) => [scope, read(scope)]));
    },
  };
  const commits = { log, counts, note: async () => {} } as unknown as Commits;
  /** Another process commits to an app. */
  const elsewhere = (scope: string, count: string) => others.set(scope, count).set('*', `${scope}${count}`);
  return { dependencies: createDependencies(commits), log, elsewhere, state };
}

const record = (id: string, size: number) => ({ seq: 1, id, items: { size }, creator: null });
const write = (before: RecordWrite['before'], after: RecordWrite['after']): RecordWrite => ({ before, after });
const changes = (scope: string, ...writes: RecordWrite[]): Changes => new Map([[scope, writes]]);
const large = { has: ({ items }: NonNullable<RecordWrite['after']>) => Number(items.size) > 5, isCount: false };

/** A record, a condition, and the number of records for a condition. */
const reads: UnitReads = new Map<string, ScopeReads | 'any'>([
  ['app', { ids: new Set(['a']), ranges: [large] }],
  ['counted', { ids: new Set<string>(), ranges: [{ ...large, isCount: true }] }],
  ['content', 'any'],
]);

describe('what was read holds', () => {
  test.each<[what: string, change: Changes, holds: boolean]>([
    ['a change of another app', changes('other', write(null, record('a', 9))), true],
    ['another record, which no condition matches', changes('app', write(record('b', 1), record('b', 2))), true],
    ['the record that was read', changes('app', write(record('a', 1), record('a', 2))), false],
    ['the record that was not found', changes('app', write(null, record('a', 1))), false],
    ['its deletion', changes('app', write(record('a', 1), null)), false],
    ['a record that now matches', changes('app', write(record('b', 1), record('b', 9))), false],
    ['one that no longer does', changes('app', write(record('b', 9), record('b', 1))), false],
    ['one that still does', changes('app', write(record('b', 8), record('b', 9))), false],
    ['the same, where the number counts', changes('counted', write(record('b', 8), record('b', 9))), true],
    ['a record more', changes('counted', write(null, record('b', 9))), false],
    ['any change of content', changes('content', write(record('b', 1), record('b', 2))), false],
    ['a change that is not named', new Map([['app', null]]), false],
  ])('after %s: %s', async (_, change, holds) => {
    const { dependencies, log } = dependenciesOf();
    await dependencies.refresh();
    const kept = await dependencies.keep(dependencies.mark(), reads);
    log.append(change)();
    expect(kept && (await dependencies.holds(kept))).toBe(holds);
  });

  test('until a transaction that was open when it was read has ended', async () => {
    const { dependencies, log } = dependenciesOf();
    await dependencies.refresh();
    const end = log.append(changes('app', write(null, record('b', 9))));
    const [during] = [await dependencies.keep(dependencies.mark(), reads)];
    expect(during && (await dependencies.holds(during))).toBe(false);
    end();
    const after = await dependencies.keep(dependencies.mark(), reads);
    expect(after && (await dependencies.holds(after))).toBe(true);
  });

  test('after many changes of others, which the log no longer has', async () => {
    const { dependencies, log } = dependenciesOf();
    await dependencies.refresh();
    const kept = await dependencies.keep(dependencies.mark(), reads);
    for (let n = 0; n < 20_000; n += 1) log.append(changes('other', write(null, record(`r${n}`, 9))))();
    expect(kept && (await dependencies.holds(kept))).toBe(true);
    for (let n = 0; n < 20_000; n += 1) log.append(changes('app', write(null, record(`r${n}`, 1))))();
    // It may hold, but that is no longer known.
    expect(kept && (await dependencies.holds(kept))).toBe(false);
  });
});

describe('with other processes', () => {
  const kept = async (tools: ReturnType<typeof dependenciesOf>, between = () => {}, scopes: string[] = []) => {
    const { dependencies } = tools;
    await dependencies.refresh();
    const mark = await dependencies.counted(dependencies.mark(), scopes);
    between();
    return dependencies.keep(mark, reads);
  };

  test('a commit to the app is seen after the next refresh, one to another app changes nothing', async () => {
    const tools = dependenciesOf();
    const one = await kept(tools);
    if (!one) throw new Error('it was not kept');
    tools.elsewhere('other', '1');
    await tools.dependencies.refresh();
    expect(await tools.dependencies.holds(one)).toBe(true);
    tools.elsewhere('app', '1');
    await tools.dependencies.refresh();
    expect(await tools.dependencies.holds(one)).toBe(false);
  });

  test('nothing is kept when another has committed while it was read, unless to other apps than are known to be read', async () => {
    const tools = dependenciesOf();
    const known = ['app', 'counted', 'content'];
    expect(await kept(tools, () => tools.elsewhere('other', '1'))).toBeNull();
    expect(await kept(tools, () => tools.elsewhere('other', '2'), known)).not.toBeNull();
    expect(await kept(tools, () => tools.elsewhere('app', '1'), known)).toBeNull();
  });

  test('nothing holds while it is not certain what others have committed', async () => {
    const tools = dependenciesOf();
    const one = await kept(tools);
    tools.state.isCertain = false;
    expect(one && (await tools.dependencies.holds(one))).toBe(false);
    expect(await kept(tools)).toBeNull();
  });

  test.each<[what: string, happens: (tools: ReturnType<typeof dependenciesOf>) => void, isUnchanged: boolean]>([
    ['nothing', () => {}, true],
    ['a commit of this process', ({ log }) => log.append(changes('other', write(null, record('a', 9))))(), false],
    ['a transaction that is being committed', ({ log }) => void log.append(changes('other')), false],
    ['a commit of another process', ({ elsewhere }) => void elsewhere('other', '1'), false],
    ['what others commit is not certain', ({ state }) => void Object.assign(state, { isCertain: false }), false],
  ])('the known commits are the same, or not, after %s', async (_, happens, isUnchanged) => {
    const tools = dependenciesOf();
    const { dependencies } = tools;
    expect(dependencies.commits()).toBeNull();
    expect(dependencies.isUnchanged(null)).toBe(false);
    await dependencies.refresh();
    const before = dependencies.commits();
    happens(tools);
    await dependencies.refresh();
    expect(dependencies.isUnchanged(before)).toBe(isUnchanged);
  });
});
