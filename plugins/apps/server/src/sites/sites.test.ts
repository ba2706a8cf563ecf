import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createSitesFrom, type SitesOptions } from './sites';
import type { Site, Sites } from './types';

let directory: string;
const warn = vi.fn();
const settings = new Map<string, unknown>();

function write(path: string, text: string | Buffer = '') {
  mkdirSync(dirname(join(directory, path)), { recursive: true });
  writeFileSync(join(directory, path), text);
}

function make(more: Partial<SitesOptions> = {}): Sites {
  return createSitesFrom({
    config: {
      themesDirectory: directory,
      appsFolder: 'apps',
      sites: [
        { id: 'site', title: 'Site', theme: 'basic' },
        { id: 'other', title: 'Other', theme: 'dark' },
      ],
      content: {},
    },
    baseUrl: () => 'http://localhost:1337/',
    readContent: async () => null,
    settingStore: {
      get: async (key) => settings.get(key) ?? null,
      set: async (key, value) => void settings.set(key, value),
      inTransaction: () => false,
    },
    contentTypes: () => [],
    logger: { warn },
    production: false,
    ...more,
  });
}

const siteOf = async (sites: Sites, id = 'site') => (await sites.site(id)) as Site;
const textOf = async (sites: Sites, path: string, app = 'rating') =>
  (await sites.app(await siteOf(sites), app))?.files.get(path)?.text;

beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'themes-')));
  write('basic/apps/rating/blocks/rate.html', 'one');
  write('basic/assets/a.css', 'css');
  warn.mockClear();
  settings.clear();
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

describe('app', () => {
  test('reads settings, blocks and modules, and nothing else', async () => {
    write('basic/apps/rating/settings.yaml', 'debug: true');
    write('basic/apps/rating/lib/deep/a.js', 'A');
    write('basic/apps/rating/assets/x.css');
    write('basic/apps/rating/README.md');
    write('basic/apps/rating/blocks/.rate.html.swp');
    const sites = make();
    const folder = await sites.app(await siteOf(sites), 'rating');
    expect(folder).toMatchObject({
      appId: 'rating',
      themeId: 'basic',
      settings: { path: 'settings.yaml', text: 'debug: true' },
    });
    expect([...(folder?.files.keys() ?? [])]).toEqual(['blocks/rate.html', 'lib/deep/a.js']);
  });

  test('gives the same folder until a file changes, then at once another', async () => {
    const sites = make();
    const site = await siteOf(sites);
    const first = await sites.app(site, 'rating');
    expect(await sites.app(await siteOf(sites), 'rating')).toBe(first);
    write('basic/apps/rating/blocks/rate.html', 'two');
    const second = await sites.app(site, 'rating');
    expect(second?.files.get('blocks/rate.html')?.text).toBe('two');
    expect(second?.revision).not.toBe(first?.revision);
    expect(first?.files.get('blocks/rate.html')?.text).toBe('one');
    write('basic/apps/rating/blocks/new.html', 'new');
    expect(await textOf(sites, 'blocks/new.html')).toBe('new');
    rmSync(join(directory, 'basic/apps/rating/blocks/new.html'));
    expect(await textOf(sites, 'blocks/new.html')).toBeUndefined();
    rmSync(join(directory, 'basic/apps/rating'), { recursive: true });
    expect(await sites.app(site, 'rating')).toBeNull();
  });

  test('sees changes of the same length made one right after the other', async () => {
    const sites = make();
    for (const text of ['aaa', 'bbb', 'ccc', 'ddd', 'eee']) {
      write('basic/apps/rating/blocks/rate.html', text);
      expect(await textOf(sites, 'blocks/rate.html')).toBe(text);
    }
  });

  test('sees changes within 2 seconds in production, checking once a second', async () => {
    const sites = make({ production: true });
    expect(await textOf(sites, 'blocks/rate.html')).toBe('one');
    write('basic/apps/rating/blocks/rate.html', 'two');
    expect(await textOf(sites, 'blocks/rate.html')).toBe('one');
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect(await textOf(sites, 'blocks/rate.html')).toBe('two');
  });

  test('a folder never mixes two versions of its files', async () => {
    const sites = make();
    const versions = ['x'.repeat(50_000), 'y'.repeat(50_000)];
    for (const [name, text] of versions.entries()) {
      write(`v${name}/blocks/a.js`, text);
      write(`v${name}/blocks/b.js`, text);
    }
    renameSync(join(directory, 'v0'), join(directory, 'basic/apps/swap'));
    const site = await siteOf(sites);
    const reading = Array.from({ length: 10 }, () => sites.app(site, 'swap'));
    renameSync(join(directory, 'basic/apps/swap'), join(directory, 'v0'));
    renameSync(join(directory, 'v1'), join(directory, 'basic/apps/swap'));
    for (const folder of await Promise.all(reading)) {
      const texts = new Set([...(folder?.files.values() ?? [])].map(({ text }) => text));
      expect(texts.size).toBeLessThanOrEqual(1);
    }
  });

  test('says why a file cannot be read', async () => {
    write('basic/apps/rating/blocks/big.js', 'x'.repeat(1024 * 1024 + 1));
    write('basic/apps/rating/blocks/latin.js', Buffer.from([0xe9]));
    write('basic/apps/rating/blocks/bom.js', '\uFEFFa');
    const sites = make();
    const files = (await sites.app(await siteOf(sites), 'rating'))?.files;
    expect(files?.get('blocks/big.js')).toMatchObject({ text: '', problem: 'The file is larger than 1024 kB' });
    expect(files?.get('blocks/latin.js')).toMatchObject({ text: '', problem: 'The file is not UTF-8 text' });
    expect(files?.get('blocks/bom.js')?.text).toBe('a');
  });

  test('follows no link out of the theme, and no pipe', async () => {
    write('secret/b.html', 'secret');
    const blocks = join(directory, 'basic/apps/rating/blocks');
    symlinkSync(join(directory, 'secret/b.html'), join(blocks, 'out.html'));
    symlinkSync('rate.html', join(blocks, 'in.html'));
    symlinkSync(join(directory, 'secret'), join(directory, 'basic/apps/rating/lib'));
    symlinkSync(join(directory, 'secret'), join(directory, 'basic/apps/secret'));
    symlinkSync('/dev/zero', join(blocks, 'zero.html'));
    symlinkSync('.', join(blocks, 'loop'));
    execFileSync('mkfifo', [join(blocks, 'pipe.html')]);
    const sites = make();
    const site = await siteOf(sites);
    const files = (await sites.app(site, 'rating'))?.files;
    expect(files?.get('blocks/in.html')?.text).toBe('one');
    expect([...(files?.keys() ?? [])].filter((path) => !path.includes('loop'))).toEqual([
      'blocks/in.html',
      'blocks/rate.html',
    ]);
    expect(await sites.app(site, 'secret')).toBeNull();
  });

  test.each(['nope', 'Rating', '..', 'a/b', '__proto__', ''])('finds no app %j', async (id) => {
    const sites = make();
    expect(await sites.app(await siteOf(sites), id)).toBeNull();
  });

  test('follows links to other themes', async () => {
    write('basic/apps/poll.lnk', 'dark\n');
    write('dark/apps/poll.lnk', 'light');
    write('light/apps/poll/blocks/a.html', 'light');
    const sites = make();
    expect(await sites.app(await siteOf(sites), 'poll')).toMatchObject({ themeId: 'light' });
    expect(await sites.apps(await siteOf(sites))).toEqual(['poll', 'rating']);
    write('basic/apps/poll/blocks/a.html', 'own');
    expect(await textOf(sites, 'blocks/a.html', 'poll')).toBe('own');
  });

  test.each([
    ['a missing theme', { 'basic/apps/poll.lnk': 'nope' }],
    ['a theme without the app', { 'basic/apps/poll.lnk': 'dark', 'dark/theme.yaml': '' }],
    ['itself', { 'basic/apps/poll.lnk': 'basic' }],
    ['something that is no id', { 'basic/apps/poll.lnk': '../dark' }],
    ['nothing', { 'basic/apps/poll.lnk': '' }],
    ['two themes', { 'basic/apps/poll.lnk': 'dark\nlight' }],
    ['where it came from', { 'basic/apps/poll.lnk': 'dark', 'dark/apps/poll.lnk': 'basic' }],
  ])('a link to %s is no app, and is logged once', async (_, files) => {
    for (const [path, text] of Object.entries(files)) write(path, text as string);
    const sites = make();
    const site = await siteOf(sites);
    expect(await sites.app(site, 'poll')).toBeNull();
    expect(await sites.app(site, 'poll')).toBeNull();
    expect(await sites.apps(site)).toEqual(['rating']);
    expect(warn).toHaveBeenCalledTimes(1);
  });
});

describe('themes', () => {
  test('lists themes, described by their theme.yaml if that can be read', async () => {
    write('dark/theme.yaml', 'title: x');
    write('broken/theme.yaml', 'oops');
    write('.git/theme.yaml');
    const readThemeInfo = ({ text }: { text: string }) => {
      if (text === 'oops') throw new Error('broken');
      return { title: 'Dark' };
    };
    expect(await make({ readThemeInfo }).themes()).toEqual([
      { id: 'basic', title: 'basic', description: '', apps: ['rating'] },
      { id: 'broken', title: 'broken', description: '', apps: [] },
      { id: 'dark', title: 'Dark', description: '', apps: [] },
    ]);
  });

  test("reads the active theme's own files", async () => {
    for (const path of ['layout.html', 'rules.yaml', 'templates/article.html', 'templates/x.js', 'other.html'])
      write(`basic/${path}`, path);
    const sites = make();
    const theme = await sites.theme(await siteOf(sites));
    expect([...(theme?.files.keys() ?? [])]).toEqual(['layout.html', 'rules.yaml', 'templates/article.html']);
    expect(await sites.theme(await siteOf(sites))).toBe(theme);
    expect(await sites.theme(await siteOf(sites, 'other'))).toBeNull();
  });

  test('activates a theme for one site, and keeps the choice', async () => {
    write('dark/apps/poll/blocks/a.html');
    const here = make();
    expect((await siteOf(here)).theme).toBe('basic');
    await here.activate('site', 'dark');
    expect((await siteOf(here)).theme).toBe('dark');
    expect(await here.apps(await siteOf(here))).toEqual(['poll']);
    expect((await siteOf(make())).theme).toBe('dark');
    await expect(here.activate('site', 'nope')).rejects.toMatchObject({ name: 'NotFoundError' });
    await expect(here.activate('site', '..')).rejects.toMatchObject({ name: 'NotFoundError' });
    await expect(here.activate('nope', 'dark')).rejects.toMatchObject({ name: 'NotFoundError' });
  });

  test('notices a choice of another process within 2 seconds', async () => {
    const sites = make();
    expect((await siteOf(sites)).theme).toBe('basic');
    settings.set('theme:site', 'dark');
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect(await siteOf(sites)).toEqual({
      id: 'site',
      title: 'Site',
      url: 'http://localhost:1337/site',
      locale: null,
      timeZone: null,
      theme: 'dark',
    });
  });

  test('knows its sites', async () => {
    expect((await make().all()).map(({ id }) => id)).toEqual(['site', 'other']);
    expect(await make().site('nope')).toBeUndefined();
  });
});

describe('asset', () => {
  test.each([
    [{ path: 'a.css' }, 'basic/assets/a.css'],
    [{ path: 'b.css', app: 'rating' }, 'basic/apps/rating/assets/b.css'],
    [{ path: 'inner.css' }, 'basic/assets/a.css'],
    [{ path: 'none.css' }, null],
    [{ path: 'folder' }, null],
    [{ path: 'out.css' }, null],
    [{ path: 'code.css' }, null],
    [{ path: '../layout.html' }, null],
    [{ path: 'a.css', theme: 'nope' }, null],
    [{ path: 'a.css', app: 'nope' }, null],
  ])('%j', async (address, expected) => {
    write('secret.css', 'secret');
    write('basic/layout.html');
    write('basic/assets/folder/x');
    write('basic/apps/rating/assets/b.css');
    symlinkSync('a.css', join(directory, 'basic/assets/inner.css'));
    symlinkSync('../../secret.css', join(directory, 'basic/assets/out.css'));
    symlinkSync('../apps/rating/blocks/rate.html', join(directory, 'basic/assets/code.css'));
    const found = await make().asset({ kind: 'theme-asset', site: 'site', theme: 'basic', ...address });
    expect(found?.path ?? null).toBe(expected === null ? null : join(directory, expected));
    await found?.handle.close();
  });
});
