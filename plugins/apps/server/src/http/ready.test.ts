import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Checks, createLook, readinessOf } from './operate';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const fine: Checks = {
  process: () => null,
  database: () => null,
  sandbox: () => null,
  indexes: () => null,
  jobs: () => null,
};

const said = async (checks: Partial<Checks>) => {
  const answer = createLook({ ...fine, ...checks })();
  await vi.advanceTimersByTimeAsync(2_000);
  return answer;
};

test.each<[string, Partial<Checks>, string, object]>([
  ['all is well', {}, 'ready', { database: 'ok', jobs: 'ok' }],
  ['a part that is not to work is off, which is ready', { jobs: () => 'off' }, 'ready', { jobs: 'off' }],
  ['a reason is said', { sandbox: () => 'cannot run logic' }, 'unready', { sandbox: 'cannot run logic' }],
  [
    'a text of an error is not said',
    { database: () => Promise.reject(new Error('password of db.internal')) },
    'unready',
    { database: 'cannot be reached', indexes: 'ok' },
  ],
  [
    'an error that is thrown at once neither',
    {
      indexes: () => {
        throw new Error('/srv/secret');
      },
    },
    'unready',
    { indexes: 'cannot be read' },
  ],
  [
    'a check that hangs does not hide the others',
    { database: () => new Promise(() => {}), jobs: () => 'off' },
    'unready',
    { database: 'does not answer', sandbox: 'ok', jobs: 'off' },
  ],
])('%s', async (_title, checks, status, parts) => {
  const answer = await said(checks);
  expect(answer.status).toBe(status);
  expect(answer.checks).toMatchObject(parts);
});

test('looks of half a second share one, and a process that ends says so at once', async () => {
  let asked = 0;
  let ending: string | null = null;
  const database = () => {
    asked += 1;
    return null;
  };
  const look = createLook({ ...fine, database, process: () => ending });
  await Promise.all(Array.from({ length: 100 }, look));
  await vi.advanceTimersByTimeAsync(500);
  await look();
  expect(asked).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect((await look()).status).toBe('ready');
  expect(asked).toBe(2);
  ending = 'is ending';
  expect(await look()).toMatchObject({ status: 'unready', checks: { process: 'is ending' } });
  await Promise.all(Array.from({ length: 100 }, look));
  expect(asked).toBe(3);
});

test('a check that hangs is begun again after ten seconds, not with each look, and is right as soon as it ends', async () => {
  const answers: ((said: null) => void)[] = [];
  const look = createLook({ ...fine, database: () => new Promise((resolve) => answers.push(resolve)) });
  const looks = async (count: number) => {
    let last = '';
    for (let time = 0; time < count; time += 1) {
      const answer = look();
      await vi.advanceTimersByTimeAsync(2_000);
      last = (await answer).checks.database;
    }
    return last;
  };
  expect(await looks(5)).toBe('does not answer');
  expect(answers).toHaveLength(1);
  expect(await looks(1)).toBe('does not answer');
  expect(answers).toHaveLength(2);
  // The first never ends; the second does.
  answers[1]?.(null);
  await vi.advanceTimersByTimeAsync(1);
  const answer = look();
  answers[2]?.(null);
  await vi.advanceTimersByTimeAsync(2_000);
  expect((await answer).checks.database).toBe('ok');
});

test('each check is a number for Prometheus', async () => {
  const { read } = readinessOf(createLook({ ...fine, jobs: () => 'off', sandbox: () => 'cannot run logic' }));
  expect(Object.fromEntries((await read()).map(([{ check }, value]) => [check, value]))).toEqual({
    process: 1,
    database: 1,
    sandbox: 0,
    indexes: 1,
    jobs: 1,
  });
});
