import { execFileSync } from 'node:child_process';
import { renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { useSites } from './testing/sites';

const { at, write, make, siteOf, textOf, warn } = useSites();

describe('app folders', () => {
  test('an app folder holds settings, blocks and modules, and nothing else', async () => {
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

  test('an app folder is the same object until a file changes, then at once another', async () => {
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
    rmSync(at('basic/apps/rating/blocks/new.html'));
    expect(await textOf(sites, 'blocks/new.html')).toBeUndefined();
    rmSync(at('basic/apps/rating'), { recursive: true });
    expect(await sites.app(site, 'rating')).toBeNull();
  });

  test('changes of the same length made one right after the other are seen', async () => {
    const sites = make();
    for (const text of ['aaa', 'bbb', 'ccc', 'ddd', 'eee']) {
      write('basic/apps/rating/blocks/rate.html', text);
      expect(await textOf(sites, 'blocks/rate.html')).toBe(text);
    }
  });

  test('changes are seen within 2 seconds in production, with one check a second', async () => {
    const sites = make({ production: true });
    const pause = (time: number) => new Promise((resolve) => setTimeout(resolve, time));
    const text = () => textOf(sites, 'blocks/rate.html');
    expect(await text()).toBe('one');
    write('basic/apps/rating/blocks/rate.html', 'two');
    expect(await text()).toBe('one');
    // This request begins a check, for which it does not wait.
    await pause(1_100);
    expect(await text()).toBe('one');
    await expect.poll(text, { timeout: 600 }).toBe('two');
    // After a longer time without requests the next one waits.
    write('basic/apps/rating/blocks/rate.html', 'three');
    await pause(1_950);
    expect(await text()).toBe('three');
  });

  test('a folder never mixes two versions of its files', async () => {
    const sites = make();
    const versions = ['x'.repeat(50_000), 'y'.repeat(50_000)];
    for (const [name, text] of versions.entries()) {
      write(`v${name}/blocks/a.js`, text);
      write(`v${name}/blocks/b.js`, text);
    }
    renameSync(at('v0'), at('basic/apps/swap'));
    const site = await siteOf(sites);
    const reading = Array.from({ length: 10 }, () => sites.app(site, 'swap'));
    renameSync(at('basic/apps/swap'), at('v0'));
    renameSync(at('v1'), at('basic/apps/swap'));
    for (const folder of await Promise.all(reading)) {
      const texts = new Set([...(folder?.files.values() ?? [])].map(({ text }) => text));
      expect(texts.size).toBeLessThanOrEqual(1);
    }
  });

  test('a file that cannot be read has the reason', async () => {
    write('basic/apps/rating/blocks/big.js', 'x'.repeat(1024 * 1024 + 1));
    write('basic/apps/rating/blocks/latin.js', Buffer.from([0xe9]));
    write('basic/apps/rating/blocks/bom.js', '\uFEFFa');
    const sites = make();
    const files = (await sites.app(await siteOf(sites), 'rating'))?.files;
    expect(files?.get('blocks/big.js')).toMatchObject({ text: '', problem: 'The file is larger than 1024 kB' });
    expect(files?.get('blocks/latin.js')).toMatchObject({ text: '', problem: 'The file is not UTF-8 text' });
    expect(files?.get('blocks/bom.js')?.text).toBe('a');
  });

  test('a link out of the theme is not followed, nor is a pipe read', async () => {
    write('secret/b.html', 'secret');
    const blocks = at('basic/apps/rating/blocks');
    symlinkSync(at('secret/b.html'), join(blocks, 'out.html'));
    symlinkSync('rate.html', join(blocks, 'in.html'));
    symlinkSync(at('secret'), at('basic/apps/rating/lib'));
    symlinkSync(at('secret'), at('basic/apps/secret'));
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

  test.each(['nope', 'Rating', '..', 'a/b', '__proto__', ''])('%j is no app', async (id) => {
    const sites = make();
    expect(await sites.app(await siteOf(sites), id)).toBeNull();
  });

  test('a link to another theme is followed', async () => {
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
