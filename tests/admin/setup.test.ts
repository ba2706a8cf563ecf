import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Overview } from '../../plugins/apps/shared/admin-api';
import { useStage } from '../support/hooks';
import { html } from '../support/stage';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'apps-setup-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const stage = useStage(() => ({ themesDirectory: path.join(folder, 'themes') }));
const setup = async () => (await stage.send<Overview>({ as: 'root', send: 'GET /apps/overview' })).json.setup;

/** A theme with one app. */
async function writeTheme(id: string): Promise<void> {
  const blocks = path.join(folder, 'themes', id, 'apps', 'open', 'blocks');
  await mkdir(blocks, { recursive: true });
  await writeFile(path.join(blocks, 'hello.html'), '<p>Hello</p>');
}

test('without a themes folder the server starts, and log and panel name the command that writes a theme', async () => {
  await expect
    .poll(() => stage.host.printed())
    .toMatch(/no theme in the folder .*themes.*: npx strapi-plugin-apps init/);
  expect(await setup()).toEqual([
    { message: expect.stringMatching(/no theme in the folder/), cure: 'npx strapi-plugin-apps init' },
  ]);
  expect((await stage.send({ send: 'GET /site', accept: html })).status).not.toBe(500);
});

test('a site whose active theme is missing is named, with the line that chooses another', async () => {
  await writeTheme('other');
  expect(await setup()).toEqual([
    { message: expect.stringMatching(/The site "site" uses the theme "main"/), cure: "theme: 'other'" },
  ]);
});

test('nothing is missing where there is a theme and logic runs', async () => {
  await writeTheme('main');
  expect(await setup()).toEqual([]);
});
