import { beforeAll, describe, expect, test, vi } from 'vitest';
import type {
  AppDetail,
  JobDetail,
  JobsPage,
  Overview,
  RunAgain,
  RunsPage,
  ScheduleSummary,
} from '../../plugins/apps/shared/admin-api';
import { configured } from '../support/configure';
import { useStage, useThemes } from '../support/hooks';

const logic = `
export function add({ jobs, request }) {
  const { name, params, ...options } = request.body;
  return { id: jobs.add('queue/' + (name ?? 'perform'), params, options) };
}
export function perform({ app, params }) {
  if (!app.get_record(params.needs)) throw new Error('not there');
  app.create_record('done-' + params.needs).save({});
}
export function tick({ app }) {
  app.create_record().save({ tick: true });
}
export function broken({ jobs, params }) {
  jobs.add('queue/perform', { needs: 'x' }, { key: 'once', delay: 60 });
  throw new Error('broken');
}
`;

const settings = 'debug: true\nacl:\n  rights:\n    editor: ["*"]\n';
const themes = useThemes(async (themes) => {
  for (const app of ['tasks', 'other']) {
    await themes.write(`main/apps/${app}/settings.yaml`, settings);
    await themes.write(`main/apps/${app}/blocks/queue.js`, logic);
    await themes.write(`main/apps/${app}/blocks/queue.yaml`, 'elements:\n  add: BASIC\n');
  }
  await themes.write('main/apps/tasks/settings.yaml', `${settings}schedule_as: [editors]\n`);
  await themes.write(
    'main/apps/tasks/blocks/nightly.yaml',
    "view_permission: [editors]\nelements: {}\nschedules: [{ run: fails, cron: '0 7 1 1 *' }]\n",
  );
  await themes.write(
    'main/apps/tasks/blocks/nightly.js',
    "export function fails({ app }) {\n  throw new Error('as ' + app.acl.current_user_groups().join());\n}\n",
  );
  await themes.write(
    'main/apps/tasks/blocks/queue.yaml',
    "elements:\n  add: BASIC\nschedules: [{ run: tick, cron: '0 6 1 1 *', time_zone: Europe/Paris }]\n",
  );
});
const stage = useStage(() => ({
  themesDirectory: themes.directory,
  env: configured({ apps: { jobs: { retries: 1, backoff: 3_000 } } }),
}));

const as = 'foreman';

async function add(json: object, app = 'tasks'): Promise<string> {
  const answer = await stage.send<{ id: string }>({ send: `POST ${app}/blocks/queue/add`, json });
  expect(answer.status, answer.text).toBe(200);
  return answer.json.id;
}

const job = async (id: string) => (await stage.send<JobDetail>({ as, send: `GET /apps/jobs/${id}` })).json;
const jobs = async (query = '') => (await stage.send<JobsPage>({ as, send: `GET /apps/jobs?${query}` })).json;
const idsOf = async (query: string) => (await jobs(query)).jobs.map(({ id }) => id);
/** Also before the first test, where `expect.poll` must not be used. */
const comesTo = (id: string, view: string) =>
  vi.waitFor(async () => expect((await job(id)).view).toBe(view), { timeout: 10_000 });

/** Runs a failed job until it is given up. */
async function dead(needs: string, app = 'tasks'): Promise<string> {
  const id = await add({ params: { needs } }, app);
  await comesTo(id, 'failed');
  // The second try is the last one; it would come in an hour.
  const due = { state: 'waiting', job: id };
  await stage.host.run(
    (strapi, { job }) =>
      strapi.db.query('plugin::apps.job').update({ where: { jobId: job }, data: { dueAt: 0 } as never }),
    due,
  );
  await comesTo(id, 'dead');
  return id;
}

let [done, failed, waiting, given] = ['', '', '', ''];
beforeAll(async () => {
  await stage.put('tasks', 'first');
  given = await dead('never');
  done = await add({ params: { needs: 'first', api_key: 'hush', url: 'https://a.example/?token=hush' } });
  failed = await add({ params: { needs: 'second' } });
  waiting = await add({ params: { needs: 'third' }, delay: 600, key: 'k' });
  await comesTo(done, 'done');
  await comesTo(failed, 'failed');
});

describe('jobs in the panel', () => {
  test('are listed by what has become of them', async () => {
    expect(await idsOf('')).toEqual([waiting, failed, done, given]);
    expect(await idsOf('view=waiting')).toEqual([waiting]);
    expect(await idsOf('view=failed')).toEqual([failed]);
    expect(await idsOf('view=dead&site=site&app=tasks&kind=function&name=queue/perform')).toEqual([given]);
    expect(await idsOf('view=done')).toEqual([done]);
    expect(await idsOf(`before=${done}`)).toEqual([given]);
    expect(await idsOf('app=other')).toEqual([]);
    expect(await jobs('kind=webhook')).toEqual({
      jobs: [],
      older: null,
      counts: { waiting: 1, failed: 1, running: 0, dead: 1 },
    });
  });

  test.each([
    ['view=lost', 'view'],
    ['kind=none', 'kind'],
    [`app=${'x'.repeat(400)}`, 'app'],
  ])('the filter %s is refused', async (query, parameter) => {
    const answer = await stage.send({ as, send: `GET /apps/jobs?${query}` });
    expect([answer.status, answer.json]).toEqual([
      400,
      { data: null, error: expect.objectContaining({ details: { parameter } }) },
    ]);
  });

  test('show what they were given without secrets, and the reason of a failure', async () => {
    expect(await job(done)).toMatchObject({
      data: {
        block: 'queue',
        function: 'perform',
        params: { needs: 'first', api_key: '(hidden)', url: 'https://a.example/?token=(hidden)' },
      },
      view: 'done',
      kind: 'function',
      name: 'queue/perform',
      attempts: 1,
      requester: '',
      key: null,
      error: null,
      status: null,
      answer: null,
      time: expect.any(Number),
      endedAt: expect.stringMatching(/Z$/),
    });
    expect((await job(given)).error).toMatch(/^LogicError: apps\/tasks\/blocks\/queue\.js:7: Error: not there/);
    expect(JSON.stringify((await jobs()).jobs)).not.toContain('first');
  });

  test('that are given up are counted at their app', async () => {
    const { json } = await stage.send<AppDetail>({ as: 'overseer', send: 'GET /apps/sites/site/apps/tasks' });
    expect(json.deadJobs).toBe(1);
    const overview = await stage.send<Overview>({ as: 'overseer', send: 'GET /apps/overview' });
    const apps = overview.json.sites[0]?.apps ?? [];
    expect(apps.filter(({ deadJobs }) => deadJobs > 0).map(({ id, deadJobs }) => [id, deadJobs])).toEqual([
      ['tasks', 1],
    ]);
  });

  test('run again with all their tries; the log says who has asked for it', async () => {
    await stage.put('tasks', 'second');
    const answer = await stage.send({ as, send: `POST /apps/jobs/${failed}/retry`, json: {} });
    expect([answer.status, answer.json]).toEqual([200, { retried: 1 }]);
    await comesTo(failed, 'done');
    expect(await job(failed)).toMatchObject({ attempts: 1, error: null });
    expect(await stage.host.printed()).toMatch(
      new RegExp(`admin:\\S+ runs the job ${failed} of site/tasks \\(function queue/perform\\) again`),
    );
  });

  test('a job whose key another one holds does not run again', async () => {
    await stage.put('tasks', 'keyed');
    const first = await add({ params: { needs: 'keyed' }, key: 'held' });
    await comesTo(first, 'done');
    const second = await add({ params: { needs: 'keyed' }, key: 'held', delay: 600 });
    expect((await stage.send({ as, send: `POST /apps/jobs/${first}/retry`, json: {} })).status).toBe(409);
    await stage.send({ as, send: `DELETE /apps/jobs/${second}` });
    expect((await stage.send({ as, send: `POST /apps/jobs/${first}/retry`, json: {} })).status).toBe(200);
  });

  test('all of a kind that are given up run again, of one app or of all', async () => {
    const more = [await dead('late'), await dead('late', 'other')];
    await stage.put('tasks', 'late');
    await stage.put('other', 'late');
    const retry = async (json: object) => stage.send({ as, send: 'POST /apps/jobs/retry', json });
    expect((await retry({})).status).toBe(400);
    expect((await retry({ kind: 'all' })).status).toBe(400);
    expect((await retry({ kind: 'mail' })).json).toEqual({ retried: 0 });
    expect((await retry({ kind: 'function', site: 'site', app: 'other' })).json).toEqual({ retried: 1 });
    await comesTo(more[1] ?? '', 'done');
    expect((await job(more[0] ?? '')).view).toBe('dead');
    expect((await retry({ kind: 'function' })).json).toEqual({ retried: 2 });
    await comesTo(more[0] ?? '', 'done');
  }, 60_000);

  test('are deleted', async () => {
    expect((await stage.send({ as, send: `DELETE /apps/jobs/${waiting}` })).json).toEqual({ success: 'deleted' });
    for (const send of [
      `GET /apps/jobs/${waiting}`,
      `POST /apps/jobs/${waiting}/retry`,
      `DELETE /apps/jobs/${waiting}`,
    ])
      expect((await stage.send({ as, send, json: send.startsWith('POST') ? {} : undefined })).status, send).toBe(404);
  });
});

describe('jobs in runs', () => {
  test('each try is a run that names its job', async () => {
    const id = await add({ params: { needs: 'first-try' } });
    await comesTo(id, 'failed');
    await stage.put('tasks', 'first-try');
    await stage.send({ as, send: `POST /apps/jobs/${id}/retry`, json: {} });
    await comesTo(id, 'done');
    const { json } = await stage.send<RunsPage>({ as: 'developer', send: `GET /apps/runs?job=${id}` });
    expect(json.runs.map(({ state, job }) => [state, job])).toEqual([
      ['done', { id, kind: 'function', attempt: 1 }],
      ['failed', { id, kind: 'function', attempt: 1 }],
    ]);
    const all = await stage.send<RunsPage>({ as: 'developer', send: 'GET /apps/runs?limit=200' });
    expect(all.json.runs.filter(({ job, method }) => job === null && method === 'POST').length).toBeGreaterThan(0);
  });

  test('a run that runs again adds no job, and lists what it would have added', async () => {
    const id = await add({ name: 'broken', params: { n: 1 } });
    await comesTo(id, 'failed');
    const { json } = await stage.send<RunsPage>({ as: 'root', send: `GET /apps/runs?job=${id}` });
    const before = await jobs();
    const again = await stage.send<RunAgain>({ as: 'root', send: `POST /apps/runs/${json.runs[0]?.id}/again` });
    expect(again.json).toMatchObject({ status: 500, answer: expect.stringContaining('broken') });
    expect(again.json.runs).toMatchObject([{ state: 'failed' }]);
    expect((await jobs()).jobs.map((one) => one.id)).toEqual(before.jobs.map((one) => one.id));
  });

  test('a run of a schedule runs again in the roles of "schedule_as"', async () => {
    // Makes the role.
    await stage.user('eric');
    const target = { site: 'site', app: 'tasks', block: 'nightly', function: 'fails' };
    const { json: ran } = await stage.send<{ job: string }>({ as, send: 'POST /apps/schedules/run', json: target });
    await comesTo(ran.job, 'failed');
    expect((await job(ran.job)).error).toContain('as Public,editors');
    const { json } = await stage.send<RunsPage>({ as: 'root', send: `GET /apps/runs?job=${ran.job}` });
    const again = await stage.send<RunAgain>({ as: 'root', send: `POST /apps/runs/${json.runs[0]?.id}/again` });
    expect(again.json).toMatchObject({ status: 500, answer: expect.stringContaining('as Public,editors') });
  });

  test('of a request that would have been stored, too', async () => {
    await themes.write(
      'main/apps/tasks/blocks/form.yaml',
      'elements:\n  go: { type: ACTION, label: Go }\n  show: BASIC\n',
    );
    await themes.write('main/apps/tasks/blocks/form.html', '{go}{show}');
    await themes.write(
      'main/apps/tasks/blocks/form.js',
      [
        "export const go = ({ jobs }) => void jobs.add('queue/perform', { needs: 'a' }, { key: 'once', delay: 60 });",
        "export const show = ({ request }) => { if (request.get('n')) throw new Error('shown'); return ''; };",
        '',
      ].join('\n'),
    );
    const send = 'POST tasks/blocks/form?n=1';
    await expect
      .poll(async () => (await stage.send({ send, form: { 'action.go': 'Go' }, accept: 'text/html' })).status)
      .toBe(200);
    const { json } = await stage.send<RunsPage>({ as: 'root', send: 'GET /apps/runs?block=form&state=failed' });
    const again = await stage.send<RunAgain>({ as: 'root', send: `POST /apps/runs/${json.runs[0]?.id}/again` });
    expect(again.json.writes.jobs).toEqual([
      {
        app: 'tasks',
        kind: 'function',
        name: 'queue/perform',
        key: 'function:once',
        data: { block: 'queue', function: 'perform', params: { needs: 'a' } },
        dueAt: expect.stringMatching(/Z$/),
      },
    ]);
  });
});

describe('schedules in the panel', () => {
  test('are listed with their words and ticks, and run now', async () => {
    const list = async () => (await stage.send<ScheduleSummary[]>({ as, send: 'GET /apps/schedules' })).json;
    const target = { site: 'site', app: 'tasks', block: 'queue', function: 'tick' };
    await expect.poll(list).toMatchObject([
      { function: 'fails' },
      {
        ...target,
        cron: '0 6 1 1 *',
        timeZone: 'Europe/Paris',
        missed: 'once',
        words: expect.stringContaining('06:00'),
      },
    ]);
    expect((await list())[1]?.next).toMatch(/-01-01T05:00:00.000Z$/);
    const run = await stage.send<{ job: string }>({ as, send: 'POST /apps/schedules/run', json: target });
    expect(run.status, run.text).toBe(200);
    await comesTo(run.json.job, 'done');
    expect(await job(run.json.job)).toMatchObject({ kind: 'schedule', name: 'queue/tick' });
  });

  test.each([
    [{ site: 'site', app: 'tasks', block: 'queue', function: 'perform' }, 404],
    [{ site: 'site', app: 'tasks', block: 'queue' }, 400],
    [{ site: 'none', app: 'tasks', block: 'queue', function: 'tick' }, 404],
  ])('%j is refused with %i', async (json, status) => {
    expect((await stage.send({ as, send: 'POST /apps/schedules/run', json })).status).toBe(status);
  });
});
