import { symlinkSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { useSites } from './testing/sites';

const { at, write, make, siteOf, settings } = useSites();

describe('themes', () => {
  test('themes are listed, described by their theme.yaml if that can be read', async () => {
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

  test("the active theme's own files are read", async () => {
    for (const path of ['layout.html', 'rules.yaml', 'templates/article.html', 'templates/x.js', 'other.html'])
      write(`basic/${path}`, path);
    const sites = make();
    const theme = await sites.theme(await siteOf(sites));
    expect([...(theme?.files.keys() ?? [])]).toEqual(['layout.html', 'rules.yaml', 'templates/article.html']);
    expect(await sites.theme(await siteOf(sites))).toBe(theme);
    expect(await sites.theme(await siteOf(sites, 'other'))).toBeNull();
  });

  test('a theme is activated for one site, and the choice is kept', async () => {
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

  test('a choice of another process is noticed within 2 seconds', async () => {
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

  test('the sites are those of the configuration', async () => {
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
  ])('the asset %j is the file %j', async (address, expected) => {
    write('secret.css', 'secret');
    write('basic/layout.html');
    write('basic/assets/folder/x');
    write('basic/apps/rating/assets/b.css');
    symlinkSync('a.css', at('basic/assets/inner.css'));
    symlinkSync('../../secret.css', at('basic/assets/out.css'));
    symlinkSync('../apps/rating/blocks/rate.html', at('basic/assets/code.css'));
    const found = await make().asset({ theme: 'basic', ...address });
    expect(found?.path ?? null).toBe(expected === null ? null : at(expected));
    await found?.handle.close();
  });
});
