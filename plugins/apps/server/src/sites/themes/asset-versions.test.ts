import { utimesSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { contentVersion } from '../../common/assets';
import { useSites } from '../testing/sites';

const { at, write, make } = useSites();
const css = { theme: 'basic', path: 'a.css' };

describe('versions of public files', () => {
  test.each([
    ['a file has that of its content', css, contentVersion('css')],
    ['a missing file has none', { ...css, path: 'b.css' }, null],
    ['a file outside of assets has none', { ...css, path: '../apps/rating/blocks/rate.html' }, null],
    ['a path with a zero byte has none', { ...css, path: 'a.css\0' }, null],
    ['a file of a missing theme has none', { ...css, theme: 'nope' }, null],
  ])('%s', async (_title, file, version) => {
    expect(await make().assetVersion(file)).toBe(version);
  });

  test('a file above 2 MiB has none', async () => {
    write('basic/assets/film', Buffer.alloc(2 * 1024 * 1024));
    write('basic/assets/long-film', Buffer.alloc(2 * 1024 * 1024 + 1));
    const versionOf = (path: string) => make().assetVersion({ theme: 'basic', path });
    expect(await versionOf('film')).toHaveLength(22);
    expect(await versionOf('long-film')).toBeNull();
  });

  test('a change of the same size and time is seen', async () => {
    const sites = make();
    utimesSync(at('basic/assets/a.css'), 1, 1);
    expect(await sites.assetVersion(css)).toBe(contentVersion('css'));
    write('basic/assets/a.css', 'xyz');
    utimesSync(at('basic/assets/a.css'), 1, 1);
    expect(await sites.assetVersion(css)).toBe(contentVersion('xyz'));
  });

  test('in production a file is looked at once a second', async () => {
    const sites = make({ production: true });
    await sites.assetVersion(css);
    write('basic/assets/a.css', 'new');
    expect(await sites.assetVersion(css)).toBe(contentVersion('css'));
    await expect.poll(() => sites.assetVersion(css), { timeout: 2_000 }).toBe(contentVersion('new'));
  });
});
