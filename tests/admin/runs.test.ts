import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RunAgain, RunDetail, RunsPage } from '../../plugins/apps/shared/admin/runs';
import type { Overview } from '../../plugins/apps/shared/admin-api';
import { configured } from '../support/configure';
import { useStage, useThemes } from '../support/hooks';
import { html, type Row } from '../support/stage';
import { acting } from './runs/acting';
import { runsOfRules } from './runs/rules';

const logic = `
export function on_display(context) {
  context.app.log('shown to ' + context.app.acl.current_user());
}
export function value(context) {
  if (context.request.get('n') === '7') throw new Error('seven');
  return '<b>fine</b>';
}
export function add(context) {
  const record = context.app.create_record('made');
  record.set('name', context.request.get('name'));
  context.mail.send({ to: 'team@example.org', subject: 'Added', text: 'a record' });
  if (context.request.get('name') === 'bad') throw new Error('bad name');
  if (context.request.get('name') === 'publish') throw new Error('not yet');
}
export function called(context) {
  context.app.create_record('called');
  throw new Error('called with ' + context.params.word);
}
`;
const definition = 'elements:\n  value: BASIC\n  add: { type: ACTION, label: Add }\n  name: TEXT\n';
const settings =
  'debug: true\nacl:\n  rights:\n    author: ["*"]\n    reader: ["*"]\nmail:\n  to: [team@example.org]\n';

const themes = useThemes(async (themes) => {
  for (const app of ['open', 'shut']) {
    const own = app === 'open' ? settings : settings.replace('true', 'false');
    await themes.write(`main/apps/${app}/settings.yaml`, own);
    await themes.write(`main/apps/${app}/blocks/a.yaml`, definition);
    await themes.write(`main/apps/${app}/blocks/a.html`, '<p>{value}</p>{add}{name}');
    await themes.write(`main/apps/${app}/blocks/a.js`, logic);
    await themes.write(`main/apps/${app}/blocks/plain.yaml`, 'elements:\n  name: TEXT\n');
    await themes.write(`main/apps/${app}/blocks/plain.html`, '{name}');
    await themes.write(`main/apps/${app}/blocks/layout.yaml`, 'elements:\n  name: TEXT\n');
    await themes.write(`main/apps/${app}/blocks/layout.html`, '{% if x %}');
  }
});
const stage = useStage(() => ({
  themesDirectory: themes.directory,
  env: { TEST_LOGIC_TIME: '2000', ...configured({ apps: { editing: true } }) },
}));

async function runs(query = ''): Promise<RunsPage> {
  const { status, text, json } = await stage.send<RunsPage>({ as: 'root', send: `GET /apps/runs?${query}` });
  expect(status, text).toBe(200);
  return json;
}
const cursor = async () => (await runs('limit=1')).cursor ?? '';

/** The runs of one request. */
async function runsOf(row: Omit<Row, 'title' | 'status'>): Promise<RunDetail[]> {
  const after = await cursor();
  await stage.send({ accept: html, ...row });
  const found = (await runs(`after=${after}`)).runs;
  return Promise.all(found.map(({ id }) => detail(id)));
}

async function detail(id: string): Promise<RunDetail> {
  return (await stage.send<RunDetail>({ as: 'root', send: `GET /apps/runs/${id}` })).json;
}

async function again(id: string, files?: Record<string, string>): Promise<RunAgain> {
  const send = `POST /apps/runs/${id}/again`;
  const { status, text, json } = await stage.send<RunAgain>({ as: 'root', send, ...(files && { json: { files } }) });
  expect(status, text).toBe(200);
  return json;
}

const post = (app: string, name: string) => ({
  send: `POST ${app}/blocks/a?token=hush`,
  form: { 'action.add': 'Add', name, password: 'hush' },
});

describe('what is kept', () => {
  test('a run of logic, with requester, functions, time, memory, host calls and log', async () => {
    const [run, ...more] = await runsOf({ as: 'anna', send: 'GET open/blocks/a?n=1&token=hush' });
    expect(more).toEqual([]);
    expect(run).toMatchObject({
      site: 'site',
      app: 'open',
      block: 'a',
      state: 'done',
      method: 'GET',
      error: null,
      input: null,
      calls: [{ app: 'open', block: 'a', functions: ['on_display', 'value'] }],
      address: '/site/@@apps/open/blocks/a?n=1&token=(hidden)',
      requester: { identity: expect.stringMatching(/^user:/), name: 'anna' },
      logs: [{ app: 'open', block: 'a', level: 'info', message: 'shown to anna', line: 3 }],
    });
    expect(run?.time).toBeGreaterThan(0);
    expect(run?.memory).toBeGreaterThan(0);
    expect(run?.hostCalls).toBeGreaterThan(0);
  });

  test.each<[string, string, object[]]>([
    ['no run of a block without logic', 'GET open/blocks/plain', []],
    ['no run of a settings page', 'GET open', []],
    [
      'a layout that fails',
      'GET open/blocks/layout',
      [{ state: 'failed', error: { file: 'blocks/layout.html', line: 1 } }],
    ],
    [
      'a contained failure, with its line',
      'GET open/blocks/a?n=7',
      [
        {
          state: 'failed',
          error: { name: 'LogicError', file: 'blocks/a.js', line: 6, excerpt: expect.stringContaining("n') === '7'") },
        },
      ],
    ],
    [
      'an element alone',
      'GET open/blocks/a/value',
      [{ state: 'done', calls: [{ functions: ['on_display', 'value'] }] }],
    ],
  ])('%s', async (_title, send, expected) => {
    expect(await runsOf({ send })).toMatchObject(expected);
  });

  test('secrets and inputs: only of failed runs of apps in debug mode', async () => {
    const [open] = await runsOf(post('open', 'bad'));
    const [shut] = await runsOf(post('shut', 'bad'));
    expect(open).toMatchObject({
      state: 'failed',
      hasInput: true,
      input: { form: { name: 'bad', password: '(hidden)' } },
    });
    expect(shut).toMatchObject({ state: 'failed', hasInput: false, input: null });
    expect(JSON.stringify([open, shut])).not.toContain('hush');
    const refused = await stage.send({ as: 'root', send: `POST /apps/runs/${shut?.id}/again` });
    expect(refused.status).toBe(409);
  });

  test.each([
    ['app=open', 'open'],
    ['app=shut', 'shut'],
  ])('the filter %s', async (query, app) => {
    const found = (await runs(query)).runs;
    expect(found.length).toBeGreaterThan(0);
    expect(found.every((run) => run.app === app)).toBe(true);
  });

  test('filters by state, block and requester', async () => {
    expect((await runs('state=failed')).runs.every(({ state }) => state === 'failed')).toBe(true);
    expect((await runs('requester=anna')).runs.map(({ requester }) => requester.name)).toContain('anna');
    expect((await runs('requester=anonymous')).runs.every(({ requester }) => requester.identity === '')).toBe(true);
    expect((await runs('block=nothing')).runs).toEqual([]);
    expect((await stage.send({ as: 'root', send: 'GET /apps/runs?state=odd' })).status).toBe(400);
    expect((await stage.send({ as: 'root', send: 'GET /apps/runs/none' })).status).toBe(404);
  });

  test('the overview counts the failed ones of each app', async () => {
    const failed = async (app: string) => {
      const { json } = await stage.send<Overview>({ as: 'overseer', send: 'GET /apps/overview' });
      return json.sites[0]?.apps.find(({ id }) => id === app)?.failedRuns ?? 0;
    };
    const [open, shut] = [await failed('open'), await failed('shut')];
    await stage.send({ ...post('open', 'bad'), accept: html });
    await stage.send({ send: 'GET open/blocks/a?n=1', accept: html });
    expect([await failed('open'), await failed('shut')]).toEqual([open + 1, shut]);
  });

  test.each(['anonymous', 'mona', 'olga', 'overseer', 'clerk'])('%s may not see them', async (as) => {
    for (const send of ['GET /apps/runs', 'GET /apps/runs/x', 'POST /apps/runs/x/again'])
      expect([401, 403]).toContain((await stage.send({ as, send })).status);
  });
});

describe('run again', () => {
  test('writes nothing, and shows what it would have written', async () => {
    const [failed] = await runsOf(post('open', 'bad'));
    const first = await again(failed?.id ?? '');
    expect(first).toMatchObject({
      status: 500,
      runs: [{ state: 'failed', error: { message: expect.stringMatching(/bad name/) } }],
    });
    await themes.write('main/apps/open/blocks/a.js', logic.replace("=== 'bad'", "=== 'worse'"));
    const rerun = await again(failed?.id ?? '');
    expect(rerun).toMatchObject({ runs: [{ state: 'done', error: null }] });
    expect(rerun.status).toBeLessThan(400);
    expect(rerun.writes.records.at(-1)).toMatchObject({ app: 'open', id: 'made', after: { name: 'bad' } });
    expect(rerun.writes.mails).toMatchObject([{ app: 'open', to: ['team@example.org'], subject: 'Added' }]);
    expect(await stage.items('open', 'made')).toBeNull();
    await themes.write('main/apps/open/blocks/a.js', logic);
  });

  test('with texts of an editor: nothing is saved, visitors do not see them, and errors stand in them', async () => {
    const [failed] = await runsOf(post('open', 'bad'));
    const id = failed?.id ?? '';
    const edited = logic.replace("=== 'bad'", "=== 'worse'");
    const fine = await again(id, { 'blocks/a.js': edited });
    expect(fine).toMatchObject({ runs: [{ state: 'done', error: null }] });
    expect(fine.writes.records.at(-1)).toMatchObject({ app: 'open', id: 'made', after: { name: 'bad' } });
    const helped = `import { check } from '../lib/check';\n${edited.replace('export function add(context) {', '$& check();')}`;
    const library = "export function check() {\n  throw new Error('from lib');\n}\n";
    const broken = await again(id, { 'blocks/a.js': helped, 'lib/check.js': library });
    expect(broken.runs).toMatchObject([
      { error: { app: 'open', file: 'lib/check.js', line: 2, excerpt: expect.stringContaining('from lib') } },
    ]);
    const wrong = await again(id, { 'blocks/a.js': 'export function add( {' });
    expect(wrong).toMatchObject({ status: 500, runs: [{ error: { file: 'blocks/a.js', line: 1 } }] });
    expect(await readFile(path.join(themes.directory, 'main/apps/open/blocks/a.js'), 'utf8')).toBe(logic);
    expect(await stage.items('open', 'made')).toBeNull();
    expect(await again(id)).toMatchObject({ runs: [{ error: { message: expect.stringMatching(/bad name/) } }] });
  });

  test.each<[title: string, files: unknown, status: number]>([
    ['a path outside', { '../shut/blocks/a.js': '' }, 400],
    ['a path that is none of an app', { 'package.json': '{}' }, 400],
    ['no text', { 'blocks/a.js': 1 }, 400],
    ['a text with NUL', { 'blocks/a.js': 'a\0' }, 400],
    ['half a character', { 'blocks/a.js': 'a\ud800' }, 400],
    ['too large a text', { 'blocks/a.js': 'x'.repeat(1024 * 1024 + 1) }, 413],
    ['too many texts', Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`lib/${n}.js`, ''])), 400],
    ['a list', ['x'], 400],
  ])('%s is refused', async (_title, files, status) => {
    const [failed] = await runsOf(post('open', 'bad'));
    const send = `POST /apps/runs/${failed?.id}/again`;
    const answer = await stage.send({ as: 'developer', send, json: { files } });
    expect(answer.status, answer.text).toBe(status);
  });

  test('changes of content are listed and refused', async () => {
    const [failed] = await runsOf({ ...post('open', 'publish'), as: 'publisher' });
    expect(failed).toMatchObject({ state: 'failed', requester: { identity: expect.stringMatching(/^admin:/) } });
    const create = "context.api.documents('api::article.article').create({ data: { title: 'Never' } })";
    await themes.write('main/apps/open/blocks/a.js', logic.replace("throw new Error('not yet')", create));
    const { writes, runs: redone } = await again(failed?.id ?? '');
    expect(writes.content).toMatchObject([
      { type: 'api::article.article', method: 'create', params: { data: { title: 'Never' } } },
    ]);
    expect(redone).toMatchObject([{ error: { message: expect.stringMatching(/Writes are switched off/) } }]);
    const found = await stage.send({ as: 'root', send: 'GET /api/articles?filters[title]=Never' });
    expect(found.text).not.toContain('Never');
    await themes.write('main/apps/open/blocks/a.js', logic);
  });

  test('does not count as a run', async () => {
    const [failed] = await runsOf(post('open', 'bad'));
    const before = await cursor();
    await again(failed?.id ?? '');
    expect(await cursor()).toBe(before);
  });
});

runsOfRules(stage, themes);
acting(stage, themes);
