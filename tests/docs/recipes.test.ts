import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../scripts/server-process.mjs';
import { configured } from '../support/configure';
import { useFolder, useHost, usePage } from '../support/hooks';
import { apiToken } from '../support/seed';
import { repository } from '../support/theme';
import { documented, patternOf, type Step, stepsOf, textOf, typed } from '../support/typed';
import { blocksElsewhere } from './recipes/elsewhere';
import { codeOfTheHost } from './recipes/host';
import { webhookCalls, webhookReceiver, webhookSecrets, withFreePort } from './recipes/webhooks';

/** docs/recipes: every file of every page in one theme, on one host; each page's commands print what stands below them. */
const pages = (await readdir(path.join(repository, 'docs', 'recipes'))).filter((name) => name.endsWith('.md'));
/** The port of the web service of postal-code.md, which the reader starts. */
const servicePort = String(await freePort());
const recipes = await Promise.all(
  pages.map(async (page) => ({
    page,
    text: (await textOf(`docs/recipes/${page}`))
      .replaceAll('127.0.0.1:9000', `127.0.0.1:${servicePort}`)
      .replaceAll('listen(9000,', `listen(${servicePort},`),
  })),
).then((all) => all.map(({ page, text }) => ({ page, text, steps: stepsOf(text) })));

/** Files of a theme by their first name; other files belong to the host or to another program. */
const inTheme = /^(apps\/|templates\/|layout\.html$|rules\.yaml$|theme\.yaml$|assets\/)/;

/** Where a file goes, below the test's folder. */
function placeOf(page: string, file: string): string {
  if (inTheme.test(file)) return path.join('themes', 'mine', file);
  return file.startsWith('themes/') ? file : path.join('work', page, file);
}

/** Writes a page's files. Rules of several pages are one list. */
async function write(folder: string, page: string, steps: Step[]): Promise<void> {
  await mkdir(path.join(folder, 'work', page), { recursive: true });
  for (const { file, text } of steps) {
    if (!file) continue;
    const target = path.join(folder, placeOf(page, file));
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, withFreePort(text), { flag: file === 'rules.yaml' ? 'a' : 'w' });
  }
}

const at = useFolder('recipes', async (folder) => {
  // README.md first: recipes may have a file of its theme in another version.
  const sorted = [...recipes].sort((a, b) => Number(b.page === 'README.md') - Number(a.page === 'README.md'));
  for (const { page, steps } of sorted) await write(folder, page, steps);
});

/** The command line runs in the repository, without the lines that npm adds; its file is the reader's. */
const inRepository = (step: Step): Step => ({
  ...step,
  commands: step.commands.replace(
    /^npm run apps -- (\w+ \w+ \w+) (\S+)(.*)$/gm,
    `(cd ${repository} && node scripts/apps.mjs $1 "$OLDPWD/$2"$3)`,
  ),
});

let elsewhere = '';
const outside = usePage(() => elsewhere, 'localhost');
/** What postal-code.md has in its config/plugins. */
const service = [`127.0.0.1:${servicePort}`];
const calls = {
  hosts: { delivery: service, ...webhookCalls.hosts },
  private: [...service, ...webhookCalls.private],
  secrets: { codes: { value: 'only-for-the-shop', hosts: service }, ...webhookCalls.secrets },
};
const environment = () => ({
  ...configured({ apps: { fetch: calls } }),
  APPS_DEMO: 'true',
  APPS_THEME: 'mine',
  APPS_CORS_ORIGINS: outside.origin,
});
const host = useHost(() => ({ themesDirectory: at('themes'), env: environment() }));
const passwordOf = (user: string) => new RegExp(`^ {2}${user} +(\\S+)`, 'm').exec(host.output())?.[1] ?? '';

let env: Record<string, string>;
beforeAll(async () => {
  env = {
    ANNA: passwordOf('anna'),
    ERIC: passwordOf('eric'),
    API_TOKEN: await apiToken(host, { name: 'recipes', type: 'full-access' }),
    ...environment(),
    ...webhookSecrets,
    APPS_THEMES_DIRECTORY: at('themes'),
    DATABASE_CLIENT: 'sqlite',
    DATABASE_FILENAME: host.database,
    SERVE_ADMIN: 'false',
  };
});

codeOfTheHost(host, (page, file) => at(placeOf(page, file)));
blocksElsewhere({
  host,
  outside,
  show: (html) => {
    elsewhere = html;
  },
  at: (page, file) => at(placeOf(page, file)),
  read: (page, file) => readFile(at(placeOf(page, file)), 'utf8'),
  write: (page, file, text) => writeFile(at(placeOf(page, file)), text),
});

describe.each(recipes.filter(({ steps }) => steps.some(({ file }) => !file)))('$page', ({ page, text, steps }) => {
  const commands = steps.filter(({ file }) => !file);
  let outputs: string[] = [];
  beforeAll(async () => {
    outputs = await typed(host, commands.map(inRepository), { folder: at('work', page), env });
  });

  test.each(commands.map((step, index) => ({ ...step, index })))('$commands', ({ printed, index }) => {
    expect(outputs[index]).toMatch(patternOf(printed));
  });

  test.each([...new Set(text.match(/(?<=<)http\S+(?=>)/g))])('%s is a page', async (address) => {
    const user = /moderate|terms/.test(address) ? 'eric' : 'anna';
    const authorization = `Basic ${Buffer.from(`${user}:${passwordOf(user)}`).toString('base64')}`;
    const response = await fetch(address.replace(documented, host.url), { headers: { authorization } });
    expect(response.status).toBe(200);
    expect(await response.text()).not.toContain('role="alert"');
  });
});

webhookReceiver((page, file) => at(placeOf(page, file)));

test('the list of recipes names every recipe', async () => {
  const named = [...(await textOf('docs/recipes/README.md')).matchAll(/\]\(([\w-]+\.md)\)/g)].map(([, name]) => name);
  expect([...new Set(named)].sort()).toEqual(pages.filter((page) => page !== 'README.md').sort());
});

test('no two recipes have an app in common', () => {
  const apps = recipes.flatMap(({ page, steps }) =>
    [...new Set(steps.map(({ file = '' }) => /^(?:themes\/plone\/)?apps\/([^/.]+)/.exec(file)?.[1]))]
      .filter(Boolean)
      .map((app) => `${app} of ${page}`),
  );
  expect(new Set(apps.map((app) => app.split(' ')[0])).size).toBe(apps.length);
});
