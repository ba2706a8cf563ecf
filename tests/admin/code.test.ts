import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type {
  AppDetail,
  CodeFile,
  CodeFiles,
  CodeProblem,
  FileVersion,
  Preview,
} from '../../plugins/apps/shared/admin-api';
import { configured } from '../support/configure';
import { useStage, useThemes } from '../support/hooks';
import { openStage } from '../support/stage';
import { createEditor } from './code/editor';
import { hostileNames } from './code/hostile-names';

const settings = 'debug: false\nacl:\n  rights:\n    author: ["*"]\n';
const logic = `export function value(context) {
  return '<b>for ' + (context.app.acl.current_user() ?? 'all') + ' in ' + context.content.title + '</b>';
}
`;

const themes = useThemes({
  'main/apps/code/settings.yaml': settings,
  'main/apps/code/blocks/a.yaml': 'elements:\n  value: BASIC\n  name: TEXT\n',
  'main/apps/code/blocks/a.html': '<p>{value}</p>{name}',
  'main/apps/code/blocks/a.js': logic,
  'main/apps/code/blocks/find.yaml': 'elements:\n  total: { type: NUMBER, index_type: field }\n  found: BASIC\n',
  'main/apps/code/blocks/find.html': '<p>{found}</p>',
  'main/apps/code/blocks/find.js': 'export function found() {\n  return 0;\n}\n',
  'main/apps/code/blocks/secret.yaml': 'view_permission: [editors]\n',
  'main/apps/code/blocks/secret.html': 'for editors',
  'other/theme.yaml': 'title: Other\n',
  'other/apps/theirs/settings.yaml': settings,
  'main/apps/theirs.lnk': 'other',
});
const stage = useStage(() => ({ themesDirectory: themes.directory, env: configured({ apps: { editing: true } }) }));

const editor = createEditor(stage, themes);
const { api, folder, at, send, read, write } = editor;

describe('files', () => {
  test('are listed with what can be edited', async () => {
    const { json } = await send<CodeFiles>(`GET ${api}/files`);
    expect(json.locked).toBeNull();
    expect(json.files).toContainEqual({ path: 'blocks/a.js', isEditable: true });
    expect(json.files).toContainEqual({ path: 'settings.yaml', isEditable: true });
  });

  test('are written whole, and their earlier texts are kept', async () => {
    expect((await write('lib/x.js', 'one', null)).status).toBe(200);
    expect((await write('lib/x.js', 'again', null)).status).toBe(409);
    const first = await read('lib/x.js');
    const { json: second } = await write('lib/x.js', 'two ü', first.revision);
    expect([second.text, await at('lib/x.js')]).toEqual(['two ü', 'two ü']);
    const versions = await send<FileVersion[]>(`GET ${api}/versions?path=lib/x.js`);
    expect(versions.json).toMatchObject([{ author: 'developer@example.com', size: 3 }]);
    const version = await send<{ text: string }>(`GET ${api}/versions/${versions.json[0]?.id}`);
    expect(version.json).toEqual({ text: 'one' });
    expect((await send(`GET /apps/sites/site/apps/theirs/versions/${versions.json[0]?.id}`)).status).toBe(404);
    expect((await readdir(join(folder(), 'lib'))).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  test('a change on the disk meanwhile is refused with the current text, and not overwritten', async () => {
    const mine = await read('blocks/a.html');
    await writeFile(join(folder(), 'blocks/a.html'), 'theirs {value}');
    const refused = await write('blocks/a.html', 'mine', mine.revision);
    expect([refused.status, refused.json.error?.details.current]).toMatchObject([409, { text: 'theirs {value}' }]);
    expect(await at('blocks/a.html')).toBe('theirs {value}');
    const current = refused.json.error?.details.current as CodeFile;
    expect((await write('blocks/a.html', '<p>{value}</p>{name}', current.revision)).status).toBe(200);
  });

  test('of many writers with one revision, one succeeds', async () => {
    await write('lib/race.js', 'start', null);
    const { revision } = await read('lib/race.js');
    const texts = Array.from({ length: 8 }, (_, n) => `writer ${n}`);
    const answers = await Promise.all(texts.map((text) => write('lib/race.js', text, revision)));
    const won = answers.flatMap(({ status }, n) => (status === 200 ? [texts[n]] : []));
    expect(won).toHaveLength(1);
    expect(await at('lib/race.js')).toBe(won[0]);
  });

  test('are renamed and deleted with their revision', async () => {
    await write('lib/old.js', 'text', null);
    const { revision } = await read('lib/old.js');
    const rename = (to: string, own = revision) =>
      send<CodeFile>(`POST ${api}/file/rename`, { path: 'lib/old.js', to, revision: own });
    expect((await rename('lib/x.js')).status).toBe(409);
    expect((await rename('lib/new.js', 'wrong')).status).toBe(409);
    expect((await rename('lib/old.js')).status).toBe(409);
    expect((await rename('tests/new.js')).json).toMatchObject({ path: 'tests/new.js', text: 'text' });
    expect((await rename('lib/again.js')).status).toBe(409);
    const gone = (own: string) => send(`DELETE ${api}/file?path=tests/new.js&revision=${own}`);
    expect((await gone('wrong')).status).toBe(409);
    expect((await gone(revision)).status).toBe(200);
    expect((await gone(revision)).status).toBe(409);
    expect((await send<FileVersion[]>(`GET ${api}/versions?path=tests/new.js`)).json).toMatchObject([{ size: 4 }]);
  });

  test('a file in use is used at once', async () => {
    const { revision } = await read('blocks/a.js');
    await write('blocks/a.js', logic.replace('for ', 'now '), revision);
    expect((await stage.send({ send: 'GET code/blocks/a/value' })).text).toContain('now all');
    await write('blocks/a.js', logic, (await read('blocks/a.js')).revision);
  });
});

hostileNames(editor, themes, settings);

describe('problems', () => {
  const check = async (files: Record<string, string>) =>
    (await send<{ problems: CodeProblem[] }>(`POST ${api}/check`, { files })).json.problems;

  test('of unsaved texts, as lint finds them', async () => {
    const missing = {
      severity: 'error',
      file: 'blocks/a.yaml',
      line: 3,
      message: expect.stringMatching(/BASIC "vaule" does nothing/),
    };
    const button = { severity: 'warning', file: 'blocks/a.html', message: expect.stringMatching(/has no button/) };
    expect(await check({})).toMatchObject([button]);
    expect(await check({ 'blocks/a.html': '<p>{value}</p>{name} {{ context.mode }}' })).toEqual([]);
    expect(await check({ 'blocks/a.yaml': 'elements:\n  value: BASIC\n  vaule: BASIC\n  name: TEXT\n' })).toMatchObject(
      [button, missing],
    );
    expect(await check({ 'blocks/a.html': '{valeu}{name}' })).toMatchObject([
      { file: 'blocks/a.html', line: 1, column: 1, excerpt: expect.stringContaining('{valeu}') },
      button,
    ]);
    const member = 'export function value(context) {\n  return context.app.serach("");\n}';
    expect(await check({ 'blocks/a.js': member })).toMatchObject([
      button,
      { file: 'blocks/a.js', line: 2, column: 22, message: expect.stringMatching(/"serach" of an app/) },
    ]);
    expect(await check({ 'blocks/a.js': 'export function value( {' })).toMatchObject([
      button,
      { file: 'blocks/a.js', line: 1 },
    ]);
    expect(await check({ 'settings.yaml': 'colour: red\n' })).toMatchObject([
      button,
      { file: 'settings.yaml', line: 1 },
    ]);
    expect(await at('blocks/a.js')).toBe(logic);
  });
});

describe('preview', () => {
  const preview = async (body: object) =>
    (
      await stage.send<Preview>({
        as: 'maker',
        send: `POST ${api}/preview`,
        json: { block: 'a', who: 'anonymous', ...body },
      })
    ).json;

  test('as somebody, with unsaved texts; what visitors see does not change', async () => {
    await stage.user('anna');
    expect((await preview({})).html).toContain('<b>for all in ');
    expect((await preview({ who: 'user:anna' })).html).toContain('<b>for anna in ');
    const files = { 'blocks/a.js': logic.replace('for ', 'draft for ') };
    expect((await preview({ files })).html).toContain('<b>draft for all');
    expect((await stage.send({ send: 'GET code/blocks/a/value' })).text).toContain('for all');
    expect((await preview({ files: { 'blocks/a.html': 'new {value}' } })).html).toContain('new <b>for all');
  });

  test('rights are those of the requester', async () => {
    await stage.user('eric');
    const statuses = [];
    for (const who of ['anonymous', 'user:eric', 'group:editors'])
      statuses.push((await preview({ block: 'secret', who })).status);
    expect(statuses).toEqual([401, 200, 200]);
    const unknown = { block: 'a', who: 'user:nobody' };
    expect((await stage.send({ as: 'maker', send: `POST ${api}/preview`, json: unknown })).status).toBe(404);
  });

  test('a search builds the indexes of the saved files alone', async () => {
    const searching = (query: string) =>
      `export function found(context) {\n  return 'found ' + context.app.search('${query}').length;\n}\n`;
    const indexes = async () => (await send<AppDetail>('GET /apps/sites/site/apps/code')).json.indexes;
    const saved = await preview({ block: 'find', files: { 'blocks/find.js': searching('total == 1') } });
    expect(saved).toMatchObject({ status: 200, html: expect.stringContaining('found 0') });
    const before = await indexes();
    expect(before).toContainEqual({ name: 'total', type: 'field', state: 'ready' });
    const files = {
      'blocks/find.yaml': 'elements:\n  total: { type: NUMBER, index_type: keyword }\n  found: BASIC\n',
      'blocks/find.js': searching('1 in total'),
    };
    const refused = await preview({ block: 'find', files });
    expect(refused).toMatchObject({ status: 409, html: expect.stringContaining('once the file is saved') });
    expect(await indexes()).toEqual(before);
  });

  test('writes nothing', async () => {
    const writes =
      "export function on_display(context) {\n  context.app.create_record('preview');\n}\nexport function value() {\n  return 'x';\n}\n";
    await preview({ who: 'user:anna', files: { 'blocks/a.js': writes } });
    expect(await stage.items('code', 'preview')).toBeNull();
  });
});

describe('templates', () => {
  test('a new block, and a new app', async () => {
    const made = await send<{ paths: string[] }>(`POST ${api}/blocks`, { block: 'fresh', language: 'python' });
    expect([made.status, made.json.paths.sort()]).toEqual([
      201,
      ['blocks/fresh.html', 'blocks/fresh.py', 'blocks/fresh.yaml'],
    ]);
    expect((await send(`POST ${api}/blocks`, { block: 'fresh', language: 'js' })).status).toBe(409);
    for (const block of ['../x', 'con', 'COM1'])
      expect((await send(`POST ${api}/blocks`, { block, language: 'js' })).status).toBe(400);
    const { json: templates } = await send<string[]>('GET /apps/app-templates');
    expect(templates).toContain('poll');
    for (const [app, template, status] of [
      ['poll', 'poll', 201],
      ['poll', null, 409],
      ['POLL', null, 409],
      ['theirs', null, 409],
      ['../x', null, 400],
      ['own', null, 201],
      ['two', '../poll', 400],
      ['con', null, 400],
      ['Nul.x', null, 400],
      ['dot.', null, 400],
      ['my.lnk', null, 400],
    ] as const)
      expect([app, (await send('POST /apps/sites/site/apps', { app, template })).status]).toEqual([app, status]);
    const folders = await readdir(join(themes.directory, 'main/apps'));
    expect(folders.filter((name) => /^(con|nul|dot|my|x|two)\b/i.test(name))).toEqual([]);
    expect((await stage.send({ send: 'GET poll/blocks/poll', accept: 'text/html' })).status).toBe(200);
  });
});

test('editing: off in production, and by the configuration', async () => {
  const env = configured({ apps: { editing: false } });
  const shut = await openStage({ themesDirectory: themes.directory, env });
  try {
    const ask = (line: string, json?: object) =>
      shut.send<CodeFiles>({ as: 'developer', send: line, ...(json && { json }) });
    expect((await ask(`GET ${api}/files`)).json.locked).toMatch(/switched off/);
    expect((await ask(`GET ${api}/file?path=settings.yaml`)).status).toBe(200);
    expect((await ask(`POST ${api}/preview`, { block: 'a', who: 'anonymous' })).status).toBe(200);
    const refused: [string, object?][] = [
      [`PUT ${api}/file`, { path: 'lib/x.js', text: 'x', revision: null }],
      [`POST ${api}/file/rename`, { path: 'lib/x.js', to: 'lib/y.js', revision: 'x' }],
      [`DELETE ${api}/file?path=lib/x.js&revision=x`],
      [`POST ${api}/blocks`, { block: 'b', language: 'js' }],
      ['POST /apps/sites/site/apps', { app: 'b', template: null }],
      [`POST ${api}/preview`, { block: 'a', who: 'anonymous', files: { 'blocks/a.html': 'x' } }],
      [`POST ${api}/check`, { files: { 'blocks/a.html': 'x' } }],
    ];
    refused.push(['POST /apps/runs/none/again', { files: { 'blocks/a.js': 'x' } }]);
    for (const [line, json] of refused) expect([line, (await ask(line, json)).status]).toEqual([line, 403]);
  } finally {
    await shut.close();
  }
});
