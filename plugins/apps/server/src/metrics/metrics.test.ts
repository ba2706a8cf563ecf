import { afterAll, expect, test, vi } from 'vitest';
import { createMetrics, MAX_APPS } from '.';

const metrics = createMetrics();
afterAll(() => metrics.destroy());

const text = async () => (await metrics.text()).body;
const lines = async (name: string) => (await text()).split('\n').filter((line) => line.startsWith(name));

test('apps beyond the bound are counted together, in every metric', async () => {
  for (let number = 0; number < MAX_APPS + 20; number += 1) {
    const about = { site: 'site', app: `app-${number}` };
    for (let time = 0; time < 2; time += 1) metrics.request(about, 200, 5);
    metrics.run(about, 'done', 5, 1);
    metrics.retry(about);
    metrics.rendering(about, 'page', 'hit');
    metrics.job(about, 'mail', 'done', 5);
  }
  const requests = await lines('apps_requests_total');
  expect(requests).toHaveLength(MAX_APPS + 1);
  expect(requests).toContain('apps_requests_total{site="site",app="app-0",status="200"} 2');
  expect(requests).toContain('apps_requests_total{site="site",app="other",status="200"} 40');
  for (const name of ['runs', 'retries', 'renderings', 'job_tries'])
    expect(await lines(`apps_${name}_total`), name).toHaveLength(MAX_APPS + 1);
});

test.each([
  [200, '200'],
  [404, '404'],
  [299, '2xx'],
  [418, '4xx'],
  [599, '5xx'],
])('the status %i is counted as %s', async (status, label) => {
  metrics.request(null, status, 1);
  expect(await text()).toContain(`apps_requests_total{site="",app="",status="${label}"} 1`);
});

test('logic that sets each status makes one series a hundred', async () => {
  for (let status = 200; status < 600; status += 1) metrics.request({ site: 'site', app: 'app-1' }, status, 1);
  expect((await lines('apps_requests_total{site="site",app="app-1"')).length).toBeLessThan(30);
});

test('durations are seconds', async () => {
  metrics.wait('search', 30);
  const found = await lines('apps_wait_seconds');
  expect(found).toContain('apps_wait_seconds_bucket{le="0.025",for="search"} 0');
  expect(found).toContain('apps_wait_seconds_bucket{le="0.05",for="search"} 1');
  expect(found).toContain('apps_wait_seconds_sum{for="search"} 0.03');
});

test('readings with the same labels are summed up, and are of the moment', async () => {
  let values = [
    [{ site: 'site', app: 'other' }, 1],
    [{ site: 'site', app: 'other' }, 2],
  ] as [Record<string, string>, number][];
  metrics.add({ name: 'summed', help: 'Of the moment', labels: ['site', 'app'], read: async () => values });
  const sum = ['apps_summed{site="site",app="other"} 3'];
  expect(await lines('apps_summed')).toEqual(sum);
  // Two that scrape at the same moment.
  expect(await Promise.all([lines('apps_summed'), lines('apps_summed')])).toEqual([sum, sum]);
  values = [];
  expect(await lines('apps_summed')).toEqual([]);
});

test('the delay of the main thread is of the time since the last look', async () => {
  const pause = () => new Promise((done) => setTimeout(done, 50));
  await text();
  await pause();
  const until = performance.now() + 400;
  while (performance.now() < until);
  await pause();
  const longest = (found: string) => Number(/^apps_main_thread_delay_seconds\{part="max"\} (\S+)$/m.exec(found)?.[1]);
  expect(longest(await text())).toBeGreaterThan(0.3);
  await pause();
  expect(longest(await text())).toBeLessThan(0.3);
});

// The last: each scrape after it waits for the reading that hangs.
test('a reading that fails or hangs is left out, the others are there', async () => {
  metrics.add({ name: 'failing', help: 'Fails', read: () => Promise.reject(new Error('no database')) });
  metrics.add({ name: 'hanging', help: 'Hangs', read: () => new Promise(() => {}) });
  metrics.add({ name: 'fine', help: 'Fine', read: async () => [[{}, 7]] });
  vi.useFakeTimers();
  try {
    const asked = text();
    await vi.advanceTimersByTimeAsync(3_000);
    const found = await asked;
    expect(found).toContain('\napps_fine 7');
    expect(found).not.toMatch(/^apps_(failing|hanging) /m);
  } finally {
    vi.useRealTimers();
  }
});
