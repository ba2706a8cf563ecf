import { mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { configured } from '../support/configure';
import { useStage, useThemes } from '../support/hooks';
import { html, openStage, type RowRequest } from '../support/stage';
import { runTable } from '../support/table';
import { within } from '../support/time';
import { assetAddresses, contentCodings, writeAddresses } from './files/asset-addresses';
import { publicFiles } from './files/public-files';

const themes = useThemes(async (themes) => {
  const main = path.join(themes.directory, 'main');
  await themes.write('outside.txt', 'outside of the theme');
  await themes.write('main/assets/digits.txt', '0123456789');
  await writeAddresses(themes);
  await symlink(path.join(themes.directory, 'outside.txt'), path.join(main, 'assets', 'link.txt'));
  await symlink('/etc', path.join(main, 'assets', 'etc'));
  await symlink(path.join(main, 'assets', 'site.css'), path.join(main, 'assets', 'inside.css'));
  await symlink(path.join(themes.directory, 'other', 'apps', 'linked'), path.join(main, 'apps', 'bylink'));
  await mkdir(path.join(main, 'apps', 'hollow', 'blocks'), { recursive: true });
});
const stage = useStage(() => ({ themesDirectory: themes.directory }));

describe('apps of a theme', () => {
  runTable(stage, [
    { title: 'a folder is an app', send: 'GET plain/blocks/hello', accept: html, status: 200, has: ['Plain hello'] },
    {
      title: 'a link to an app of an inactive theme is an app',
      send: 'GET linked/blocks/hello',
      accept: html,
      status: 200,
      has: ['Hello from the other theme'],
    },
    { title: 'a linked app answers as JSON', send: 'GET linked', status: 200, answers: { 'x-csrf-token': /./ } },
    { title: 'a chain of links that comes back is no app', send: 'GET loop', status: 404, error: 'NotFoundError' },
    { title: 'a link to a missing theme is no app', send: 'GET lost', status: 404, error: 'NotFoundError' },
    { title: 'a link to a missing app is no app', send: 'GET lostapp', status: 404, error: 'NotFoundError' },
    { title: 'a symbolic link out of the theme is no app', send: 'GET bylink/blocks/hello', accept: html, status: 404 },
    { title: 'a block without a layout has no page', send: 'GET open/blocks/values', accept: html, status: 404 },
    { title: 'a block without a layout has elements', send: 'GET open/blocks/values/number', status: 200, is: 42 },
    { title: 'a layout alone is a block', send: 'GET plain/blocks/hello', status: 200, is: { elements: {} } },
    { title: 'a file name is no block', send: 'GET plain/blocks/hello.html', accept: html, status: 404 },
  ]);

  test('a broken link is logged once', async () => {
    for (let time = 0; time < 3; time += 1) await stage.send({ send: 'GET lost' });
    const lines = (await stage.host.printed())
      .split('\n')
      .filter((line) => /lost\.lnk|"lost"|\blost\b.*nowhere/.test(line) && !/HTTP|http:/.test(line));
    expect(lines, lines.join('\n')).toHaveLength(1);
  });
});

publicFiles(stage);
assetAddresses(stage, themes);
contentCodings(stage);

/** Asks until the answer is as wanted, as it must be after two seconds (docs/reference/theme.md). */
async function within2s(row: RowRequest, wanted: (text: string, status: number) => boolean) {
  const ask = () => stage.send(row);
  const answer = await within(2_000, ask, ({ text, status }) => wanted(text, status));
  expect(wanted(answer.text, answer.status), `${answer.status} ${answer.text.slice(0, 500)}`).toBe(true);
}

describe('files change without a restart', () => {
  const page = { send: 'GET fresh/blocks/page', accept: html };
  const value = { send: 'GET fresh/blocks/page/value' };
  const js = (text: string) => `export function value() {\n  return '${text}';\n}\n`;

  test('a new app is found, and every kind of change in it', async () => {
    expect((await stage.send(page)).status).toBe(404);
    await themes.write('main/apps/fresh/blocks/page.html', '<p>first {value}</p>');
    await within2s(page, (text) => text.includes('first'));
    await themes.write('main/apps/fresh/blocks/page.yaml', 'elements:\n  value: BASIC\n');
    await themes.write('main/apps/fresh/blocks/page.js', js('one'));
    await within2s(page, (text) => text.includes('first one'));
    await themes.write('main/apps/fresh/blocks/page.js', js('two'));
    await within2s(page, (text) => text.includes('first two'));
    await themes.write('main/apps/fresh/blocks/page.html', '<p>second {value}</p>');
    await within2s(page, (text) => text.includes('second two'));
    await themes.write('main/apps/fresh/lib/words.js', "export const word = 'imported';\n");
    await themes.write(
      'main/apps/fresh/blocks/page.js',
      "import { word } from '../lib/words';\nexport const value = () => word;\n",
    );
    await within2s(value, (text) => text.includes('imported'));
    await themes.write('main/apps/fresh/lib/words.js', "export const word = 'changed';\n");
    await within2s(value, (text) => text.includes('changed'));
    await themes.write('main/apps/fresh/settings.yaml', 'debug: true\n');
    await within2s({ send: 'GET fresh' }, (text) => text.includes('"debug":true'));
    await themes.remove('main/apps/fresh/settings.yaml');
    await within2s({ send: 'GET fresh' }, (text) => text.includes('no_settings'));
    await themes.remove('main/apps/fresh/blocks/page.html');
    await within2s(page, (_text, status) => status === 404);
    await themes.remove('main/apps/fresh');
    await within2s({ send: 'GET fresh' }, (_text, status) => status === 404);
  });

  test('a block breaks alone, and works when it is repaired', async () => {
    const good = { send: 'GET open/blocks/values/number' };
    await themes.write('main/apps/open/blocks/extra.yaml', 'elements:\n  value: BASIC\n');
    await themes.write('main/apps/open/blocks/extra.js', 'export const value = () => 1;\n');
    await within2s({ send: 'GET open/blocks/extra/value' }, (text) => text === '1');
    await themes.write('main/apps/open/blocks/extra.js', 'export const value = () => (1;\n');
    await within2s({ send: 'GET open/blocks/extra/value' }, (_text, status) => status === 500);
    expect((await stage.send(good)).json).toBe(42);
    await themes.write('main/apps/open/blocks/extra.js', 'export const value = () => 2;\n');
    await within2s({ send: 'GET open/blocks/extra/value' }, (text) => text === '2');
  });

  test('a record whose block is gone is still shown', async () => {
    await themes.write('main/apps/open/blocks/brief.html', '<p>brief {title}</p>');
    await themes.write('main/apps/open/blocks/brief.yaml', 'elements:\n  title: TEXT\n');
    const shown = { send: 'GET open/record/orphan', accept: html };
    await within2s(
      { send: 'PUT open/record/orphan', json: { block: 'brief', title: 'kept' } },
      (_, status) => status === 201,
    );
    await within2s(shown, (text) => text.includes('brief kept'));
    await themes.remove('main/apps/open/blocks/brief.html');
    await themes.remove('main/apps/open/blocks/brief.yaml');
    await within2s(shown, (text, status) => status === 200 && text.includes('kept') && !text.includes('brief kept'));
  });

  test('a newly declared index is right for old records', async () => {
    await stage.put('open', 'old', { colour: 'red' });
    const search = { send: 'POST open/search', json: { query: "colour == 'red'" } };
    expect((await stage.send(search)).status).toBe(400);
    await themes.write('main/apps/open/blocks/paint.yaml', 'elements:\n  colour: { type: TEXT, index_type: field }\n');
    await within2s(search, (_text, status) => status !== 400);
    await expect.poll(async () => (await stage.send(search)).json).toMatchObject([{ id: 'old' }]);
  });
});

describe('configuration', () => {
  test.each<[string, object, RegExp]>([
    ['unknown keys', { colour: 'red' }, /colour/],
    ['unknown content types', { content: { 'api::nws.nws': { path: '/news/:slug' } } }, /api::nws\.nws/],
    ['unknown fields', { content: { 'api::article.article': { path: '/a/:slgu' } } }, /api::article\.article.*'slgu'/],
  ])('%s stop the start, and are named', async (_what, config, named) => {
    await expect(openStage({ env: configured({ apps: config }) })).rejects.toThrow(named);
  });
});
