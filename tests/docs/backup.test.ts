import { beforeAll, describe, expect, test } from 'vitest';
import { runCli } from '../support/command-line';
import { writeFiles } from '../support/files';
import { useFolder, useHost } from '../support/hooks';
import { apiToken } from '../support/seed';
import { repository } from '../support/theme';
import { patternOf, type Step, stepsOf, textOf, typed } from '../support/typed';

/** docs/start/install.md and docs/operate/backup.md, on one host: its theme, its first page, a backup and a restore. */
const install = await textOf('docs/start/install.md');
const backup = stepsOf(await textOf('docs/operate/backup.md'));

/** What `init` has printed in a host with a configuration. */
let initialised = '';

const at = useFolder('backup', async (folder) => {
  const host = { 'package.json': '{"dependencies": {"@strapi/strapi": "^5.0.0"}}' };
  await writeFiles(folder, {
    ...host,
    'config/plugins.js': 'module.exports = () => ({ graphql: { enabled: true } });\n',
  });
  initialised = (await runCli(['init'], { cwd: folder })).out;
  await writeFiles(folder, { 'themes/default/apps/notes/settings.yaml': 'debug: false\n' });
});

const theme = () => ({ themesDirectory: at('themes'), env: { APPS_THEME: 'default' } });
const host = useHost(theme);

test('install.md has the commands of a first start, and the key that `init` prints', () => {
  const typed = stepsOf(install).map(({ commands }) => commands);
  expect(typed.slice(0, 4)).toEqual([
    'npm install strapi-plugin-apps',
    'npm install isolated-vm@5.0.4',
    'npx strapi-plugin-apps init',
    'npx strapi-plugin-apps dev',
  ]);
  const [, key = ''] = /```ts\n(.*?)```/s.exec(install) ?? [];
  expect(key).toContain('apps: {');
  expect(initialised).toContain(`Add this to config/plugins.js:\n\n${key}`);
});

test('the theme of install.md shows the first page', async () => {
  const answer = await fetch(`${host.url}/site/`);
  expect(answer.status).toBe(200);
  expect(await answer.text()).toContain('<h1>Demo site</h1>');
});

describe('backup.md', () => {
  const commands = backup.filter(({ file }) => !file);
  /** The paths are the reader's: here those of the test. */
  const here = (step: Step): Step => ({
    ...step,
    commands: step.commands
      .replace('.tmp/data.db', host.database)
      .replace('backup.db', at('backup.db'))
      .replace('npm run apps:check', 'node scripts/apps.mjs check'),
  });
  let outputs: string[] = [];
  beforeAll(async () => {
    const token = await apiToken(host, { name: 'backup', type: 'full-access' });
    const app = `${host.url}/site/@@apps/notes`;
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const csrf = (await fetch(app, { headers })).headers.get('x-csrf-token') ?? '';
    const body = JSON.stringify({ id: 'kept', text: 'Kept' });
    const made = await fetch(app, { method: 'POST', headers: { ...headers, 'x-csrf-token': csrf }, body });
    expect(made.status).toBe(201);
    const env = {
      APPS_THEMES_DIRECTORY: at('themes'),
      APPS_THEME: 'default',
      DATABASE_CLIENT: 'sqlite',
      DATABASE_FILENAME: host.database,
      SERVE_ADMIN: 'false',
    };
    outputs = await typed(host, commands.map(here), { folder: repository, env });
  });

  test.each(commands.map((step, index) => ({ ...step, index })))('$commands', ({ printed, index }) => {
    expect(outputs[index]).toMatch(patternOf(printed));
  });

  describe('a host on the backup', () => {
    const restored = useHost(() => ({ ...theme(), database: at('backup.db') }));

    test('has the records', async () => {
      expect(await restored.run((strapi) => strapi.db.query('plugin::apps.record').count())).toBe(1);
    });
  });
});
