import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { configured } from '../support/configure';
import { useFolder, useStage, useThemes, useTwin } from '../support/hooks';
import { send } from '../support/send';
import { repository } from '../support/theme';
import { within } from '../support/time';
import { alertCases, alertRules, expectAlerts } from './monitoring/alerts';
import { hasProgram, promtool, startPrometheus } from './monitoring/prometheus';

const page = readFileSync(path.join(repository, 'docs', 'operate', 'monitoring.md'), 'utf8');
const token = randomBytes(24).toString('base64url');
/** The second try of a job that fails is later than these tests, so that no alert fires. */
const { NODE_OPTIONS = '', ...environment } = configured({
  apps: { jobs: { workers: 1, retries: 1, backoff: 600 } },
});
const tracing = path.join(__dirname, 'monitoring', 'tracing.cjs');
const themes = useThemes(async (copy) => {
  const app = 'main/apps/tasks';
  await copy.write(`${app}/settings.yaml`, "acl:\n  rights:\n    submitter: ['*']\n");
  await copy.write(`${app}/blocks/queue.yaml`, 'elements:\n  add: BASIC\n');
  await copy.write(
    `${app}/blocks/queue.js`,
    `export const add = (context) => ({ id: context.jobs.add('queue/' + context.request.body.name) });
export const note = (context) => void context.app.create_record({ items: {} });
export function fail() { throw new Error('as it must'); }
`,
  );
});
const stage = useStage(() => ({
  themesDirectory: themes.directory,
  env: {
    ...environment,
    METRICS_TOKEN: token,
    LOG_FORMAT: 'json',
    TEST_LOG_LEVEL: 'http',
    NODE_OPTIONS: `${NODE_OPTIONS} --require ${tracing}`,
  },
}));
/** Adds a job of a function, and gives its id. */
const addJob = async (name: string) =>
  (await stage.send<{ id: string }>({ send: 'POST tasks/blocks/queue/add', json: { name } })).json.id;
/** A process whose configuration names no token. */
const plain = useTwin(stage);

/** Before the first look at the queue, whose numbers are shown again for some seconds. */
beforeAll(async () => {
  for (const name of ['note', 'fail']) {
    const id = await addJob(name);
    const tries = () =>
      stage.host.run(async (strapi, id) => {
        const { attempts, state } = await strapi.plugin('apps').service('jobs').find(id);
        return state === 'running' ? 0 : attempts;
      }, id);
    await within(10_000, tries, (made) => made === 1);
  }
});

const metrics = async (authorization = `Bearer ${token}`) =>
  (await send(stage.host.url, { method: 'GET', path: '/_apps/metrics', headers: { authorization } })).text;

/** The value of a series in the text format; null where it is missing. */
const sampleOf = (text: string, series: string): number | null => {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `));
  return line === undefined ? null : Number(line.slice(series.length + 1));
};

describe('/_apps/ready', () => {
  const ready = (method = 'GET') => send(stage.host.url, { method, path: '/_apps/ready' });

  test('a process that works is ready, and says so of each part', async () => {
    const { status, json, headers } = await ready();
    expect([status, json]).toEqual([
      200,
      { status: 'ready', checks: { process: 'ok', database: 'ok', sandbox: 'ok', indexes: 'ok', jobs: 'ok' } },
    ]);
    expect(headers['cache-control']).toBe('no-store');
  });

  test('it answers HEAD and OPTIONS, and refuses what would change something', async () => {
    expect((await ready('HEAD')).status).toBe(200);
    const asked = await ready('OPTIONS');
    expect([asked.status, asked.headers.allow]).toEqual([204, 'GET, HEAD, OPTIONS']);
    const { status, headers } = await ready('POST');
    expect([status, headers.allow]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });

  test('a part that does not work is 503 with a reason, without what its error says', async () => {
    await stage.host.run((strapi) => {
      const { client } = strapi.db.connection;
      const { emit } = client;
      // Each statement is reported by it before it runs.
      client.emit = () => {
        throw Object.assign(new Error('/secret/path of the machine'), { code: 'SQLITE_IOERR' });
      };
      (globalThis as unknown as { release(): void }).release = () => {
        client.emit = emit;
      };
    });
    try {
      await expect.poll(async () => (await ready()).status).toBe(503);
      const { json, text, headers } = await ready();
      expect(await metrics()).toContain('\napps_ready{check="database"} 0\n');
      expect(json).toMatchObject({ status: 'unready', checks: { database: 'cannot be reached', sandbox: 'ok' } });
      expect(text).not.toContain('secret');
      expect(headers['retry-after']).toBe('2');
    } finally {
      await stage.host.run(() => (globalThis as unknown as { release(): void }).release());
    }
    await expect.poll(async () => (await ready()).status).toBe(200);
  });

  test('other addresses below /_apps/ are none of the plugin', async () => {
    for (const address of ['/_apps/', '/_apps/none', '/_apps/ready/', '/_apps/ready/x'])
      expect((await send(stage.host.url, { method: 'GET', path: address })).status, address).toBe(404);
  });
});

describe('/_apps/metrics', () => {
  const ask = (as: string) => stage.send({ as, send: 'GET /_apps/metrics', accept: '*/*' });

  test.each([
    ['anonymous', 401],
    ['una', 403],
    ['mona', 403],
    ['fullToken', 403],
    ['overseer', 403],
    ['watcher', 200],
    ['ada', 200],
    ['root', 200],
  ])('%s gets %i', async (as, status) => {
    expect((await ask(as)).status).toBe(status);
  });

  test.each([
    ['the token', `Bearer ${token}`, 200],
    ['the token, another case of its scheme', `bearer ${token}`, 200],
    ['a part of the token', `Bearer ${token.slice(1)}`, 401],
    ['the token and more', `Bearer ${token}x`, 401],
    ['the token as Basic', `Basic ${btoa(`metrics:${token}`)}`, 401],
    ['nothing', '', 401],
  ])('%s', async (_title, authorization, status) => {
    const headers = { authorization };
    const answer = await send(stage.host.url, { method: 'GET', path: '/_apps/metrics', headers });
    expect([answer.status, answer.text.includes(token)]).toEqual([status, false]);
    if (status === 200) expect(answer.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  });

  test('without a token of the configuration they exist for administrators with the permission alone', async () => {
    const asked = async (credential: Parameters<typeof send>[1]['as']) =>
      (await send(plain.url, { method: 'GET', path: '/_apps/metrics', as: credential ?? null })).status;
    expect(await asked(null)).toBe(404);
    expect(await asked({ bearer: token })).toBe(404);
    expect(await asked(await stage.credential('mona'))).toBe(404);
    expect(await asked(await stage.credential('overseer'))).toBe(404);
    expect(await asked(await stage.credential('watcher'))).toBe(200);
  });

  test('requests, runs, host calls, renderings and refused logins are counted', async () => {
    const series = {
      found: 'apps_requests_total{site="site",app="open",status="200"}',
      missing: 'apps_requests_total{site="site",app="open",status="404"}',
      runs: 'apps_runs_total{site="site",app="like",state="done"}',
      calls: 'apps_host_calls_total{site="site",app="like"}',
      times: 'apps_run_duration_seconds_count{site="site",app="like"}',
      logins: 'apps_refused_logins_total{result="failed"}',
    };
    const before = await metrics();
    await stage.put('open', 'counted');
    await stage.send({ send: 'GET open/record/counted' });
    await stage.send({ send: 'GET open/record/none' });
    await stage.send({ send: 'POST like/blocks/rate/like?who=me' });
    await send(stage.host.url, { method: 'GET', path: '/site/@@apps/open', as: { basic: ['una', 'wrong'] } });
    const after = await metrics();
    const grown = Object.fromEntries(
      Object.entries(series).map(([name, one]) => [name, (sampleOf(after, one) ?? 0) - (sampleOf(before, one) ?? 0)]),
    );
    expect(grown).toMatchObject({ missing: 1, runs: 1, times: 1, logins: 1 });
    expect(grown.found).toBeGreaterThanOrEqual(1);
    expect(grown.calls).toBeGreaterThanOrEqual(1);
    await stage.send({ send: 'GET open/blocks/none', accept: 'text/html' });
    await stage.send({ send: 'GET /site', accept: 'text/html' });
    expect(await metrics()).toMatch(/^apps_renderings_total\{site="",app="",kind="page",result="\w+"\} \d/m);
  });

  test('tries of jobs are counted, and what of them waits', async () => {
    const about = 'site="site",app="tasks",kind="function"';
    const text = await metrics();
    expect(sampleOf(text, `apps_job_tries_total{${about},result="done"}`)).toBe(1);
    expect(sampleOf(text, `apps_job_tries_total{${about},result="failed"}`)).toBe(1);
    expect(sampleOf(text, 'apps_job_duration_seconds_count{kind="function"}')).toBe(2);
    expect(sampleOf(text, 'apps_runs_total{site="site",app="tasks",state="failed"}')).toBe(1);
    expect(sampleOf(text, `apps_jobs{${about},state="waiting"}`)).toBe(1);
    expect(sampleOf(text, 'apps_jobs_late_seconds')).toBe(0);
  });

  test('no label has a text of a request', async () => {
    const mark = 'marked1234';
    const headers = { 'x-request-id': mark, 'user-agent': mark };
    for (const address of [
      `/site/@@apps/${mark}`,
      `/site/${mark}`,
      `/site/@@${mark}`,
      `/site/@@apps/open/record/${mark}`,
      `/${mark}/@@apps/open`,
      `/site/@@apps/open/blocks/${mark}`,
    ])
      await send(stage.host.url, { method: 'GET', path: address, headers });
    await send(stage.host.url, { method: mark.toUpperCase(), path: '/site/@@apps/open', headers }).catch(() => null);
    expect(await metrics()).not.toMatch(new RegExp(mark, 'i'));
  });

  test('each is on the page of the documentation, and no other is', async () => {
    const [, table = ''] = /\n\| Metric \|([\s\S]*?)\n\n/.exec(page) ?? [];
    const named = [...table.matchAll(/`((?:apps|process)_\w+)`/g)].map(([, name]) => name);
    const given = [...(await metrics()).matchAll(/^# HELP (\w+)/gm)].map(([, name]) => name);
    expect(named.sort()).toEqual(given.sort());
  });

  test('the queue, the sandbox, the pool and the main thread are there', async () => {
    const text = await metrics();
    for (const name of [
      'apps_ready{check="process"}',
      'apps_ready{check="database"}',
      'apps_jobs_late_seconds',
      'apps_sandbox_sessions{state="held"}',
      'apps_sandbox_sessions{state="waiting"}',
      'apps_paused_blocks',
      'apps_database_connections{state="waiting"}',
      'apps_live_connections',
      'apps_main_thread_delay_seconds{part="0.99"}',
      'process_resident_memory_bytes',
      'process_cpu_seconds_total',
    ])
      expect(sampleOf(text, name), name).not.toBeNull();
  });
});

describe('the id of a request', () => {
  const ask = (id?: string, address = '/site/none') =>
    send(stage.host.url, {
      method: 'GET',
      path: address,
      headers: { accept: 'text/html', ...(id !== undefined && { 'x-request-id': id }) },
    });

  test('one that is well-formed and short is taken over, and stands on the error page', async () => {
    const { headers, text, status } = await ask('proxy-0123456789.abc');
    expect([status, headers['x-request-id']]).toEqual([404, 'proxy-0123456789.abc']);
    expect(text).toContain('<code>proxy-0123456789.abc</code>');
  });

  test.each([['short'], ['x'.repeat(65)], ['<b>12345678</b>'], ['with space 1'], ['.begins-with-a-dot'], ['']])(
    'another is made in place of %j',
    async (given) => {
      const { headers, text } = await ask(given);
      const id = String(headers['x-request-id']);
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
      expect(text).toContain(`<code>${id}</code>`);
      if (given !== '') expect(text).not.toContain(`<code>${given}`);
    },
  );

  test('requests of the rest of Strapi have none', async () => {
    expect((await ask('proxy-0123456789.abc', '/_health')).headers['x-request-id']).toBeUndefined();
  });

  test('the lines of the log are JSON, and those of a request have its id', async () => {
    await ask('logged-0123456789', '/site/@@apps/like/blocks/rate/like?who=log');
    await stage.send({
      send: 'POST like/blocks/rate/like?who=json',
      headers: { 'x-request-id': 'logged-9876543210' },
    });
    const lines = (await stage.host.printed()).split('\n').filter((line) => line.startsWith('{'));
    const said = lines.map((line) => JSON.parse(line) as Record<string, string>);
    const liked = said.filter(({ message }) => message?.includes('liked as json'));
    expect(liked).toMatchObject([{ level: 'info', request: 'logged-9876543210', site: 'site', app: 'like' }]);
    expect(Date.parse(liked[0]?.time ?? '')).not.toBeNaN();
    // Strapi's own lines of requests, too.
    expect(said.some(({ message, request }) => message?.includes('POST') && request === 'logged-9876543210')).toBe(
      true,
    );
    expect(said.some(({ request }) => request === undefined)).toBe(true);
  });
});

describe('spans of OpenTelemetry', () => {
  interface Seen {
    name: string;
    id: string;
    parent: string | null;
    attributes: Record<string, unknown>;
  }
  const spans = () =>
    stage.host.run((): Seen[] => {
      const { testSpans } = globalThis as unknown as {
        testSpans: {
          getFinishedSpans(): {
            name: string;
            spanContext(): { spanId: string };
            parentSpanContext?: { spanId: string };
            attributes: Record<string, unknown>;
          }[];
        };
      };
      return testSpans.getFinishedSpans().map(({ name, attributes, parentSpanContext, ...span }) => ({
        name,
        attributes,
        parent: parentSpanContext?.spanId ?? null,
        id: (span as never as { _spanContext: { spanId: string } })._spanContext.spanId,
      }));
    });

  test('a request has its run, the run its host calls, queries and its commit', async () => {
    const id = 'traced-0123456789';
    await stage.send({ send: 'POST like/blocks/rate/like?who=span', headers: { 'x-request-id': id } });
    const all = await spans();
    const request = all.find(({ attributes }) => attributes['apps.request_id'] === id);
    expect(request).toMatchObject({
      name: 'apps request',
      attributes: { 'apps.method': 'POST', 'apps.site': 'site', 'apps.app': 'like', 'apps.address': 'app' },
    });
    const below = (parent: string | undefined): Seen[] => {
      const own = all.filter((span) => span.parent === parent);
      return [...own, ...own.flatMap((span) => below(span.id))];
    };
    const names = new Set(below(request?.id).map(({ name }) => name));
    for (const name of ['apps run', 'apps host call', 'apps query', 'apps commit']) expect([...names]).toContain(name);
    const calls = below(request?.id).filter(({ name }) => name === 'apps host call');
    expect(calls.every(({ attributes }) => attributes['apps.app'] === 'like')).toBe(true);
    expect(JSON.stringify(below(request?.id))).not.toContain('who=span');
    expect(request?.attributes['apps.status']).toBe(200);
  });

  test('a job is a span of its own, with its run below it', async () => {
    const job = await addJob('note');
    const own = async () => (await spans()).find(({ attributes }) => attributes['apps.job'] === job);
    await expect.poll(own).toMatchObject({
      name: 'apps job',
      parent: null,
      attributes: { 'apps.site': 'site', 'apps.app': 'tasks', 'apps.kind': 'function' },
    });
    const { id } = (await own()) as Seen;
    const all = await spans();
    expect(all.filter(({ parent }) => parent === id).map(({ name }) => name)).toContain('apps run');
  });
});

const hasPrometheus = hasProgram('prometheus');

describe.skipIf(!hasProgram('promtool'))('promtool', () => {
  test('takes the metrics', async () => {
    expect(promtool(['check', 'metrics'], await metrics())).toBe('');
  });

  test('takes the alert rules', () => {
    expect(promtool(['check', 'rules', alertRules])).toMatch(/SUCCESS/);
  });

  describe('of the alerts', () => {
    const folder = useFolder('alerts');
    const file = () => folder('alerts.test.yml');

    test('each has a case, and stands on the page of the documentation', () => {
      const names = [...readFileSync(alertRules, 'utf8').matchAll(/- alert: (\w+)/g)].map(([, name]) => name).sort();
      expect(alertCases.map(([name]) => name).sort()).toEqual(names);
      const [, table = ''] = /\n\| Alert \|([\s\S]*?)\n\n/.exec(page) ?? [];
      expect([...table.matchAll(/`(\w+)`/g)].map(([, name]) => name).sort()).toEqual(names);
    });

    test.each(alertCases)('%s fires when it is to', async (alert, fires, quiet) => {
      await expectAlerts(file(), fires, [alert]);
      await expectAlerts(file(), quiet, []);
    });
  });
});

describe.skipIf(!hasPrometheus)('Prometheus', () => {
  const folder = useFolder('prometheus');
  let server: Awaited<ReturnType<typeof startPrometheus>>;
  beforeAll(async () => {
    server = await startPrometheus(folder(), stage.host.url, token);
    await within(
      20_000,
      () => server.query('up{job="apps"} == 1').catch(() => []),
      (found) => found.length === 1,
    );
    await stage.send({ send: 'GET open/record/none' });
  });
  afterAll(() => server?.stop());

  const dashboard = JSON.parse(readFileSync(path.join(repository, 'deploy', 'grafana', 'dashboard.json'), 'utf8')) as {
    panels: { title: string; targets: { expr: string }[] }[];
  };
  const filled = (text: string) =>
    text.replaceAll('$__rate_interval', '1m').replaceAll(/\$(instance|site|app)\b/g, '.*');
  /** Counts of what need not happen. */
  const mayBeEmpty = new Set(['Attempts after the first, host calls', 'Waits of more than none']);

  test.each(dashboard.panels)('has what the panel $title shows', async ({ title, targets }) => {
    for (const { expr } of targets) {
      if (mayBeEmpty.has(title)) await server.query(filled(expr));
      else await expect.poll(() => server.query(filled(expr)), { message: expr }).not.toEqual([]);
    }
  });

  test('has evaluated all alerts, of which none fires', async () => {
    const rules = async () =>
      (await server.get<{ groups: { rules: { name: string; health: string; state: string }[] }[] }>('rules'))?.groups[0]
        ?.rules ?? [];
    await expect
      .poll(async () => (await rules()).every(({ health }) => health === 'ok'), { timeout: 90_000 })
      .toBe(true);
    expect((await rules()).filter(({ state }) => state === 'firing')).toEqual([]);
  }, 100_000);
});
