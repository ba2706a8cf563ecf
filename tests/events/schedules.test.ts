import { beforeAll, describe, expect, test } from 'vitest';
import { availableClients } from '../support/databases';
import { useDatabase, useStage, useThemes, useTwin } from '../support/hooks';
import type { Host } from '../support/host';
import { article, grantArticles } from '../support/seed';
import type { Stage } from '../support/stage';

/** Functions that the clock calls, in two server processes on one database. */
const seconds = `
export function second(context) {
  const { tick, missed, schedule } = context.params;
  context.app.create_record().save({ tick, missed, schedule });
}`;

const rights = `
const tried = (work) => { try { return work() ?? null; } catch (error) { return error.name; } };
export function look(context) {
  const articles = context.api.documents('${article}');
  context.app.create_record('seen').save({
    user: context.api.user,
    editor: context.app.acl.has_role('editor-role'),
    reader: context.app.acl.has_role('reader-role'),
    found: tried(() => articles.count()),
    made: tried(() => articles.create({ data: { title: 'no', slug: 'no', tiles: [] } })),
    content: context.content.type,
    params: context.params,
  });
}
export function again(context) {
  const record = context.app.get_record('runs') ?? context.app.create_record('runs');
  record.save({ count: (record.count ?? 0) + 1 });
}`;

const far = "cron: '0 0 29 2 *', time_zone: America/New_York";
const roles = 'acl: {rights: {reader: [editors]}, roles: {editor-role: [editors], reader-role: [readers]}}';

const eachSecond = {
  'main/apps/clock/blocks/seconds.js': seconds,
  'main/apps/clock/blocks/seconds.yaml': "schedules: [{run: second, cron: '* * * * * *', missed: all}]",
};

const themes = useThemes({
  ...eachSecond,
  'main/apps/scheduled/settings.yaml': `schedule_as: [editors]\n${roles}\n`,
  'main/apps/scheduled/blocks/rights.js': rights,
  'main/apps/scheduled/blocks/rights.yaml': `view_permission: [editors]\nschedules: [{run: look, ${far}}, {run: again, ${far}}]`,
  'main/apps/scheduled/blocks/closed.js': 'export function look({ app }) { app.create_record("closed"); }',
  'main/apps/scheduled/blocks/closed.yaml': `view_permission: [readers]\nschedules: [{run: look, ${far}}, {run: gone, ${far}}]`,
  'main/apps/nobody/settings.yaml': roles,
  'main/apps/nobody/blocks/rights.js': rights,
  'main/apps/nobody/blocks/rights.yaml': `schedules: [{run: look, ${far}}]`,
});
const options = () => ({ themesDirectory: themes.directory });
const stage = useStage(options);
const twin = useTwin(stage, options);
beforeAll(async () => {
  await grantArticles(stage.host, 'editors');
});

interface Target {
  site: string;
  app: string;
  block: string;
  function: string;
}

const runNow = (target: Partial<Target>, host: Host = stage.host) =>
  host.run((strapi, wanted) => strapi.plugin('apps').service('schedules').runNow(wanted) as Promise<string>, {
    site: 'site',
    app: 'scheduled',
    block: 'rights',
    function: 'look',
    ...target,
  });

const jobOf = (id: string) =>
  stage.host.run(async (strapi, jobId) => {
    const { state, error } = (await strapi.db.query('plugin::apps.job').findOne({ where: { jobId } })) ?? {};
    return { state, error } as { state: string; error: string | null };
  }, id);

interface Tick {
  tick: string;
  missed: number;
  schedule: string;
}

const ticksOf = async ({ send }: Pick<Stage, 'send'>) => {
  const { json } = await send<{ items: Tick }[]>({ as: 'mona', send: 'GET clock/records?limit=1000' });
  return json.map(({ items }) => items).sort((a, b) => a.tick.localeCompare(b.tick));
};
const ticks = () => ticksOf(stage);

async function expectEachSecondOnce(on: Stage): Promise<void> {
  await expect.poll(async () => (await ticksOf(on)).length).toBeGreaterThan(8);
  const found = await ticksOf(on);
  expect(found[0]).toMatchObject({ tick: expect.stringMatching(/\.000Z$/), missed: 0, schedule: '* * * * * *' });
  const times = found.map(({ tick }) => Date.parse(tick) / 1000);
  const first = times[0] ?? 0;
  expect(times).toEqual(times.map((_, index) => first + index));
}

describe('a schedule of each second, with two processes', () => {
  test('runs each second once, in either', () => expectEachSecondOnce(stage));

  test('stops when its definition is removed, and begins again when it is back', async () => {
    await themes.remove('main/apps/clock/blocks/seconds.yaml');
    const listed = () =>
      twin.run(async (strapi) => {
        const all: Target[] = await strapi.plugin('apps').service('schedules').list();
        return all.filter(({ app }) => app === 'clock').length;
      });
    await expect.poll(listed).toBe(0);
    await expect
      .poll(async () => {
        const before = (await ticks()).length;
        await new Promise((resolve) => setTimeout(resolve, 3_000));
        return (await ticks()).length - before;
      })
      .toBe(0);
    const removed = (await ticks()).length;
    await themes.write('main/apps/clock/blocks/seconds.yaml', "schedules: [{run: second, cron: '*/2 * * * * *'}]");
    await expect.poll(async () => (await ticks()).length).toBeGreaterThan(removed + 2);
    const added = (await ticks()).slice(removed);
    expect(added.every(({ tick, schedule }) => Date.parse(tick) % 2_000 === 0 && schedule === '*/2 * * * * *')).toBe(
      true,
    );
  });
});

describe('the rights of a scheduled function', () => {
  const seen = async (app: string) => {
    const id = await runNow({ app });
    await expect.poll(() => jobOf(id)).toEqual({ state: 'done', error: null });
    return (await stage.send({ as: 'mona', send: `GET ${app}/record/seen` })).json;
  };

  test('are those of the roles in schedule_as, and nothing more', async () => {
    expect(await seen('scheduled')).toMatchObject({
      user: null,
      editor: true,
      reader: false,
      found: expect.any(Number),
      made: expect.stringMatching(/^(Forbidden|Unauthorized)Error$/),
      content: 'portal',
      params: { schedule: '0 0 29 2 *', tick: expect.stringMatching(/^\d{4}-.*Z$/), missed: 0 },
    });
    const { json } = await stage.send<{ creator?: string }[]>({ as: 'mona', send: 'GET scheduled/records' });
    expect(json).toMatchObject([{ id: 'seen' }]);
  });

  test('are those of anonymous without it', async () => {
    expect(await seen('nobody')).toMatchObject({
      user: null,
      editor: false,
      reader: false,
      found: 'UnauthorizedError',
    });
  });

  test('do not reach a block that names others', async () => {
    const id = await runNow({ block: 'closed' });
    await expect.poll(() => jobOf(id)).toMatchObject({ state: 'dead', error: expect.stringContaining('Unauthorized') });
  });

  test('a function that does not exist is waited for', async () => {
    const id = await runNow({ block: 'closed', function: 'gone' });
    await expect
      .poll(() => jobOf(id))
      .toMatchObject({ error: expect.stringMatching(/Unauthorized|no function "gone"/) });
  });
});

test('a double click on "run now", in two processes, is one run', async () => {
  const target = { block: 'rights', function: 'again' };
  const ids = await Promise.all([stage.host, twin, stage.host, twin].map((host) => runNow(target, host)));
  for (const id of ids) await expect.poll(() => jobOf(id)).toMatchObject({ state: 'done' });
  const { json } = await stage.send<{ count: number }>({ as: 'mona', send: 'GET scheduled/record/runs' });
  expect(json.count).toBe(new Set(ids).size);
  await expect(runNow({ function: 'none' })).rejects.toThrow('has no schedule of a function "none"');
});

test('the list has what a panel shows', async () => {
  const list = await stage.host.run((strapi) => strapi.plugin('apps').service('schedules').list());
  expect(list).toContainEqual({
    site: 'site',
    app: 'scheduled',
    block: 'rights',
    function: 'again',
    cron: '0 0 29 2 *',
    timeZone: 'America/New_York',
    missed: 'once',
    last: null,
    words: 'At 00:00, on day 29 of the month, only in February, America/New_York',
    next: expect.stringMatching(/-02-29T05:00:00.000Z$/),
  });
});

const servers = (await availableClients()).filter((client) => client !== 'sqlite');

describe.each(servers)('two processes on %s', (client) => {
  // The schedule of the copy above has been changed by then.
  const copy = useThemes(eachSecond);
  const database = useDatabase(client);
  const onServer = () => ({ themesDirectory: copy.directory, env: database().address.env });
  const first = useStage(onServer);
  useTwin(first, onServer);

  test('run each second once', () => expectEachSecondOnce(first));
});
