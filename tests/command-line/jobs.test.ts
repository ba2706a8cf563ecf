import { beforeAll, describe, expect, test, vi } from 'vitest';
import { runReused } from '../support/command-line';
import { configured } from '../support/configure';
import { availableClients } from '../support/databases';
import { useDatabase, useStage, useThemes } from '../support/hooks';
import { hostEnvironment, useTemporaryHost } from '../support/temporary-host';

const at = useTemporaryHost('jobs');

const themes = useThemes({
  'main/apps/tasks/settings.yaml': 'acl:\n  rights:\n    editor: ["*"]\n',
  'main/apps/tasks/blocks/queue.yaml': 'elements:\n  add: BASIC\n',
  'main/apps/tasks/blocks/queue.js': `
export function add({ request, jobs }) {
  const { params, ...options } = request.body;
  return { id: jobs.add('queue/perform', params, options) };
}
export function perform({ app, params }) {
  if (!app.get_record(params.needs)) throw new Error('not there');
}
`,
});

/** One database of each kind of notice: asked for each second, and told. */
const clients = (await availableClients()).filter((client) => client !== 'mysql');

describe.each(clients)('jobs on %s, beside a running server', (client) => {
  const database = useDatabase(client);
  const env = configured({ apps: { jobs: { retries: 0 } } });
  const stage = useStage(() => ({ themesDirectory: themes.directory, env: { ...env, ...database().address.env } }));

  async function run(...args: string[]) {
    const own = { ...hostEnvironment, ...database().address.env, APPS_THEMES_DIRECTORY: themes.directory };
    const { code, out, err } = await runReused(['jobs', ...args], { cwd: at(), env: own });
    return { code, out, err, json: args.includes('--json') ? JSON.parse(out) : undefined };
  }
  const add = async (needs: string, options: object = {}) => {
    const json = { params: { needs, password: 'hush' }, ...options };
    const answer = await stage.send<{ id: string }>({ send: 'POST tasks/blocks/queue/add', json });
    expect(answer.status, answer.text).toBe(200);
    return answer.json.id;
  };
  const viewOf = async (id: string) => {
    const { json } = await stage.send<{ view: string }>({ as: 'root', send: `GET /apps/jobs/${id}` });
    return json.view;
  };
  const dead = async (needs: string) => {
    const id = await add(needs);
    await vi.waitFor(async () => expect(await viewOf(id)).toBe('dead'));
    return id;
  };
  let first = '';
  let waiting = '';
  beforeAll(async () => {
    first = await dead('first');
    waiting = await add('later', { delay: 3600, key: 'once' });
  });

  test('are listed, by their state and more, without secrets', async () => {
    const { code, json } = await run('list', '--json');
    expect([code, json.more]).toEqual([0, false]);
    expect(json.jobs).toMatchObject([
      { id: waiting, view: 'waiting', key: 'function:once', attempts: 0, data: { params: { password: '(hidden)' } } },
      { id: first, view: 'dead', kind: 'function', name: 'queue/perform', site: 'site', app: 'tasks', attempts: 1 },
    ]);
    const shown = await run('list', '--state', 'dead');
    expect(shown.out).toMatch(
      new RegExp(`^${first} {2}dead .*site/tasks {2}function queue/perform {2}1 try\\n {2}LogicError: .*not there`),
    );
    const ids = async (...args: string[]) =>
      (await run('list', '--json', ...args)).json.jobs.map(({ id }: { id: string }) => id);
    expect(await ids('--limit', '1')).toEqual([waiting]);
    expect(await ids('--app', 'other')).toEqual([]);
    expect(await ids('--kind', 'mail')).toEqual([]);
    expect(await ids('--name', 'queue/perform', '--state', 'dead')).toEqual([first]);
    expect((await run('list', '--state', 'done')).out).toBe('No jobs\n');
  }, 60_000);

  test('run again in the server within seconds: one, and all dead ones', async () => {
    await stage.put('tasks', 'first');
    expect(await run('retry', first)).toMatchObject({ code: 0, out: '1 job runs again\n' });
    await expect.poll(() => viewOf(first), { timeout: 5_000 }).toBe('done');
    const more = [await dead('more'), await dead('more')];
    await stage.put('tasks', 'more');
    expect((await run('retry', '--dead', '--app', 'other', '--json')).json).toEqual({ retried: 0 });
    expect((await run('retry', '--dead', '--kind', 'function', '--json')).json).toEqual({ retried: 2 });
    await expect.poll(() => Promise.all(more.map(viewOf)), { timeout: 5_000 }).toEqual(['done', 'done']);
  }, 60_000);

  test('are deleted', async () => {
    expect(await run('delete', waiting)).toMatchObject({ code: 0, out: `The job "${waiting}" is deleted\n` });
    expect((await run('list', '--state', 'waiting', '--json')).json.jobs).toEqual([]);
  }, 60_000);

  test.each<[args: string[], message: RegExp]>([
    [['retry', 'none'], /There is no job "none"/],
    [['delete', 'none'], /There is no job "none"/],
    [['retry'], /Name the job by its id, or all dead ones with --dead/],
    [['retry', 'a', '--dead'], /Name the job by its id, or all dead ones with --dead/],
    [['retry', 'a', '--kind', 'mail'], /go with --dead/],
    [['list', '--limit', '0'], /--limit: 0 is not a number from 1 to 10000/],
    [['list', '--state', 'lost'], /Allowed choices are waiting, running, failed, dead, done/],
    [['delete'], /missing required argument 'id'/],
  ])(
    '%j ends with 2',
    async (args, message) => {
      expect(await run(...args)).toMatchObject({ code: 2, err: expect.stringMatching(message) });
    },
    60_000,
  );
});
