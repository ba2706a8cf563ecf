import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Ended, runCli } from '../support/command-line';
import { writeFiles } from '../support/files';
import { useFolder } from '../support/hooks';
import { repository } from '../support/theme';

const at = useFolder('command-line');
let hosts = 0;

/** A folder as `create-strapi-app` makes it, as far as the command line looks; with more files. */
async function host(files: Record<string, string> = {}) {
  hosts += 1;
  const folder = at(`host-${hosts}`);
  await writeFiles(folder, { 'package.json': '{"dependencies": {"@strapi/strapi": "^5.0.0"}}', ...files });
  await mkdir(path.join(folder, 'node_modules'));
  await symlink(path.join(repository, 'plugins', 'apps'), path.join(folder, 'node_modules', 'strapi-plugin-apps'));
  await mkdir(path.join(folder, 'node_modules', '@strapi'));
  await symlink(path.join(repository, 'node_modules/@strapi/strapi'), path.join(folder, 'node_modules/@strapi/strapi'));
  const run = (line: string, env?: Record<string, string>): Promise<Ended> =>
    runCli(line.split(' '), { cwd: folder, env });
  const read = (name: string) => readFile(path.join(folder, name), 'utf8');
  const has = (name: string) => existsSync(path.join(folder, name));
  return { folder, run, read, has };
}

const jsConfig = (entry: string) => `module.exports = ({ env }) => ({ ${entry} });\n`;

describe('init', () => {
  test('makes a theme, the settings of an editor and the configuration, and overwrites nothing', async () => {
    const { folder, run, read, has } = await host();
    const first = await run('init --json');
    expect(first.code, first.err).toBe(0);
    const { made, kept, theme } = JSON.parse(first.out);
    expect([kept, theme]).toEqual([[], 'default']);
    for (const file of made) expect(existsSync(file)).toBe(true);
    for (const file of [
      'layout.html',
      'theme.yaml',
      'rules.yaml',
      'tsconfig.json',
      'assets/theme.css',
      'apps/guestbook/settings.yaml',
    ])
      expect(has(`themes/default/${file}`), file).toBe(true);
    expect(await read('config/plugins.js')).toContain("themesDirectory: './themes',");
    expect(await read('config/plugins.js')).not.toContain('env');
    expect(await read('config/plugins.js')).toContain("sites: [{ id: 'site', title: 'My site', theme: 'default' }],");

    await writeFile(path.join(folder, 'themes/default/layout.html'), 'mine');
    const again = await run('init');
    expect(again.code).toBe(0);
    expect(again.out).toContain('kept  themes/default/layout.html (exists already)');
    expect(again.out).not.toContain('made');
    expect(again.out).not.toContain('Add this');
    expect(await read('themes/default/layout.html')).toBe('mine');
    expect((await run('lint')).out).toContain('No problems in 1 theme, 1 app, 2 blocks');
  });

  test('names the schemas in every YAML file and in the settings of the editor, with paths that exist', async () => {
    const { folder, run, read } = await host();
    await run('init');
    await run('new app poll --from poll');
    await run('new block poll/two');
    const names = await readdir(path.join(folder, 'themes'), { recursive: true });
    const yaml = names.filter((name) => name.endsWith('.yaml'));
    expect(yaml.length).toBeGreaterThan(6);
    for (const name of yaml) {
      const [, schema = ''] =
        /^# yaml-language-server: \$schema=(\S+)\n/.exec(await read(path.join('themes', name))) ?? [];
      expect(schema, name).toMatch(
        /node_modules\/strapi-plugin-apps\/schemas\/(definition|settings|theme|rules)\.json$/,
      );
      expect(existsSync(path.resolve(folder, 'themes', path.dirname(name), schema)), name).toBe(true);
    }
    const { 'yaml.schemas': schemas } = JSON.parse(await read('.vscode/settings.json'));
    expect(Object.values(schemas)).toContain('themes/*/apps/*/blocks/*.{yaml,yml}');
    for (const schema of Object.keys(schemas)) expect(existsSync(path.resolve(folder, schema)), schema).toBe(true);
  });

  test('writes TypeScript in a host of TypeScript, which the command line reads', async () => {
    const { folder, run, read } = await host({ 'tsconfig.json': '{}' });
    expect(await run('init --theme mine')).toMatchObject({
      code: 0,
      out: expect.stringContaining('Add "themes/" to "exclude" in tsconfig.json'),
    });
    expect(JSON.parse((await run('init --json')).out).exclude).toBe('themes/');
    await writeFile(path.join(folder, 'tsconfig.json'), '{ "exclude": ["themes/"] } // own');
    expect((await run('init')).out).not.toContain('exclude');
    expect(await read('config/plugins.ts')).toMatch(
      /import type \{ Core \} from '@strapi\/strapi';[\s\S]*theme: 'mine'/,
    );
    const { out } = await run('new app a --json');
    expect(JSON.parse(out).theme).toBe('mine');
  });

  test.each([
    ['config/plugins.js', jsConfig('graphql: { enabled: true }')],
    ['config/plugins.ts', 'export default () => ({});\n'],
  ])('prints the lines for an existing %s', async (file, text) => {
    const { run, read } = await host({ [file]: text });
    const { code, out } = await run('init');
    expect([code, await read(file)]).toEqual([0, text]);
    expect(out).toContain(`Add this to ${file}:`);
    expect(out).toContain("theme: 'default'");
  });

  test.each([
    [{ 'src/admin/tsconfig.json': '{}' }, 'src/admin/vite.config.ts', /export default \(config: UserConfig\)/],
    [{ 'src/admin/app.example.js': '' }, 'src/admin/vite.config.js', /module\.exports = \(config\)/],
  ])('keeps the panel from being reloaded by saved theme files: %j', async (files, file, text) => {
    const { run, read } = await host(files);
    expect((await run('init')).code).toBe(0);
    expect(await read(file)).toMatch(text);
    expect(await read(file)).toContain("ignored: ['**/themes/**']");
    expect((await run('init')).out).not.toContain('Let ');
  });

  test('says what an existing configuration of the panel lacks, and leaves it unchanged', async () => {
    const { run, read } = await host({ 'src/admin/vite.config.js': 'module.exports = (config) => config;\n' });
    const { out } = await run('init');
    expect(out).toContain('Let src/admin/vite.config.js ignore the themes folder');
    expect(await read('src/admin/vite.config.js')).toBe('module.exports = (config) => config;\n');
  });

  test('prints no lines where the plugin is configured, and uses its folders', async () => {
    const config = jsConfig("apps: { config: { themesDirectory: './web', appsFolder: 'rapido' } }");
    const { run, has, read } = await host({ 'config/plugins.js': config });
    expect((await run('init')).out).not.toContain('Add this');
    expect(has('web/default/rapido/guestbook/settings.yaml')).toBe(true);
    const { include } = JSON.parse(await read('web/default/tsconfig.json'));
    expect(include.map((one: string) => one.split('/')[0])).toEqual(['rapido', 'rapido', 'rapido', 'rapido']);
  });

  test('the themes folder is that of --themes, else of the environment, else of the configuration', async () => {
    const config = jsConfig("apps: { config: { themesDirectory: env('APPS_THEMES_DIRECTORY', './web') } }");
    const { run, has } = await host({ 'config/plugins.js': config, '.env': 'APPS_THEMES_DIRECTORY=dotenv' });
    await run('init');
    expect([has('dotenv/default'), has('web')]).toEqual([true, false]);
    await run('init', { APPS_THEMES_DIRECTORY: 'set' });
    expect(has('set/default')).toBe(true);
    await run('init --themes given', { APPS_THEMES_DIRECTORY: 'set' });
    expect(has('given/default')).toBe(true);
  });

  test('the configuration of an environment is merged into the other as Strapi does it', async () => {
    const { run } = await host({
      'config/plugins.js': jsConfig(
        "apps: { config: { limits: { logicTime: 500 }, sites: [{ id: 'a', title: 'A', theme: 'one' }, { id: 'b', title: 'B', theme: 'two' }] } }",
      ),
      'config/env/staging/plugins.js': jsConfig("apps: { config: { sites: [{ theme: 'three' }] } }"),
      'themes/one/layout.html': '',
      'themes/two/layout.html': '',
      'themes/three/layout.html': '',
    });
    const { code, out, err } = await run('new app x --json', { NODE_ENV: 'staging' });
    expect([code, JSON.parse(out).theme], err).toEqual([0, 'three']);
  });

  test('a configuration that needs Strapi is replaced by the defaults, with a note', async () => {
    const { run, has } = await host({
      'config/plugins.js': 'module.exports = () => { throw new Error("no strapi"); };',
    });
    const { code, err } = await run('init');
    expect([code, err]).toEqual([0, expect.stringMatching(/cannot be read without starting Strapi \(no strapi\)/)]);
    expect(has('themes/default')).toBe(true);
  });
});

test('types of blocks have names of their own', async () => {
  const { folder, run, read } = await host();
  await run('init');
  for (const block of ['app', 'vote', 'vote-record'])
    await writeFiles(path.join(folder, 'themes/default/apps/guestbook/blocks'), { [`${block}.yaml`]: 'elements: {}' });
  expect(await run('types guestbook')).toMatchObject({ code: 0 });
  const text = await read('themes/default/apps/guestbook/app.d.ts');
  const imported = /import type \{ (.*) \}/.exec(text)?.[1]?.split(', ') ?? [];
  const declared = [...text.matchAll(/^export (?:type|interface) (\w+)/gm)].map(([, name = '']) => name);
  expect(declared).toEqual(expect.arrayContaining(['App2Record', 'VoteRecordContext', 'VoteRecord2Context']));
  const all = [...imported, ...declared];
  expect(all.filter((name, index) => all.indexOf(name) !== index)).toEqual([]);
});

describe('what cannot be done ends with 2 and says what to do', () => {
  let made: Awaited<ReturnType<typeof host>>;
  beforeAll(async () => {
    made = await host({ 'themes/other/apps/linked/blocks/a.html': '', 'themes/default/apps/linked.lnk': 'other' });
    await made.run('init');
  });

  test.each<[line: string, message: RegExp]>([
    ['init --theme a..b', /"a\.\.b" cannot be the id of a theme\n {2}An id has letters/],
    ['new app ../x', /"\.\.\/x" cannot be the id of an app/],
    ['new app constructor', /cannot be the id/],
    ['new app con', /"con" cannot be the id of an app: it is a name that Windows keeps for a device/],
    ['new app dot.', /ends with a dot/],
    ['new app my.lnk', /ends as a link to an app does/],
    ['new block guestbook/com1', /"com1" cannot be the id of a block/],
    ['init --theme nul', /"nul" cannot be the id of a theme/],
    ['new app guestbook', /The theme "default" has an app "guestbook" already/],
    ['new app linked', /has an app "linked" already: .*linked\.lnk/],
    ['new app x --from shop', /argument 'shop' is invalid\. Allowed choices are poll, comments/],
    ['new app x --theme none', /There is no theme "none"[\s\S]*There are: default, other/],
    ['new app', /missing required argument 'id'/],
    ['new block guestbook', /"guestbook" names no block\n {2}Write <app>\/<block>/],
    ['new block guestbook/a/b', /names no block/],
    ['new block none/a', /There is no app "none"[^\n]*\n {2}Make it with `npx strapi-plugin-apps new app none`/],
    ['new block linked/a', /is a link\n {2}Name the theme/],
    ['new block guestbook/latest', /has a block "latest" already: .*latest\.html/],
    ['new block guestbook/-a', /"-a" cannot be the id of a block/],
    ['new block guestbook/a --language php', /Allowed choices are js, ts, python/],
    ['lint nothing', /There is no theme and no app "nothing"/],
    ['lint --themes none', /There is no themes folder .*none\n {2}Make one with `npx strapi-plugin-apps init`/],
    ['lint --what', /unknown option '--what'/],
    ['lnt', /unknown command 'lnt'\n\(Did you mean lint\?\)/],
    ['lint --dir ..', /There is no Strapi application in/],
  ])('%s', async (line, message) => {
    const { code, out, err } = await made.run(line);
    expect([code, out, err]).toEqual([2, '', expect.stringMatching(message)]);
  });

  test('outside of a Strapi application', async () => {
    const { code, err } = await runCli(['init'], { cwd: at() });
    expect([code, err]).toEqual([2, expect.stringMatching(/There is no Strapi application[\s\S]*--dir/)]);
  });

  test('a host in TypeScript that does not compile', async () => {
    const options = {
      module: 'CommonJS',
      moduleResolution: 'Node',
      target: 'ES2022',
      outDir: 'dist',
      rootDir: '.',
      noEmitOnError: true,
      types: [],
    };
    const { run } = await host({
      'tsconfig.json': JSON.stringify({ compilerOptions: options, include: ['src'] }),
      'src/index.ts': 'export const one: number = "one";\n',
    });
    await run('init');
    const { code, out, err } = await run('lint --host --json');
    expect([code, JSON.parse(out)], err).toEqual([
      2,
      { error: expect.objectContaining({ message: expect.stringMatching(/does not compile/) }) },
    ]);
    expect(err).toContain("not assignable to type 'number'");
  });

  test('a wrong configuration', async () => {
    const { run } = await host({ 'config/plugins.js': jsConfig('apps: { config: { theme: 1 } }') });
    expect(await run('lint')).toMatchObject({ code: 2, err: expect.stringMatching(/unknown key 'theme'/) });
  });

  test.each<[line: string, error: object]>([
    [
      'lint --json --themes none',
      { message: expect.stringContaining('no themes folder'), cure: expect.stringContaining('init') },
    ],
    ['lint --json --what', { message: "unknown option '--what'" }],
  ])('%s: the error is one document', async (line, error) => {
    const { code, out } = await made.run(line);
    expect([code, JSON.parse(out)]).toEqual([2, { error }]);
  });
});

describe('help', () => {
  test.each<[line: string, code: number, text: RegExp]>([
    ['--help', 0, /Commands:[\s\S]*init[\s\S]*new[\s\S]*lint[\s\S]*Exit codes: 0 fine/],
    ['lint --help', 0, /--types[\s\S]*--json/],
    ['new app --help', 0, /choices: "poll", "comments"/],
    ['--version', 0, /^\d+\.\d+\.\d+/],
  ])('%s', async (line, code, text) => {
    expect(await runCli(line.split(' '), { cwd: at() })).toMatchObject({ code, out: expect.stringMatching(text) });
  });

  test('without a command the usage is an error', async () => {
    expect(await runCli([], { cwd: at() })).toMatchObject({ code: 2, out: '', err: expect.stringContaining('Usage:') });
  });
});

test('commands work from a folder inside the host', async () => {
  const { folder, run } = await host();
  await run('init');
  const { code, out } = await runCli(['lint', 'guestbook'], { cwd: path.join(folder, 'themes', 'default') });
  expect([code, out]).toEqual([0, expect.stringContaining('No problems in 1 theme, 1 app')]);
});
