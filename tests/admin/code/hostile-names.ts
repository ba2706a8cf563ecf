import { link, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { CodeFiles } from '../../../plugins/apps/shared/admin-api';
import type { ThemeCopy } from '../../support/theme';
import type { Editor } from './editor';

/** Names, links and texts with which an editor would leave the app; `settings` is the text of its settings.yaml. */
export function hostileNames(editor: Editor, themes: ThemeCopy, settings: string): void {
  const { api, folder, at, send, read, write, everything } = editor;

  describe('hostile names', () => {
    beforeAll(async () => {
      const outside = join(themes.directory, 'outside');
      await mkdir(outside);
      await writeFile(join(outside, 'target.js'), 'untouched');
      await symlink(outside, join(folder(), 'lib', 'out'));
      await symlink(join(outside, 'target.js'), join(folder(), 'lib', 'link.js'));
      await symlink(join(outside, 'missing.js'), join(folder(), 'lib', 'dangling.js'));
      await symlink(join(folder(), 'lib', 'x.js'), join(folder(), 'lib', 'inside.js'));
      await link(join(folder(), 'settings.yaml'), join(folder(), 'lib', 'hard.yaml'));
    });

    const names = [
      '',
      '.',
      '..',
      '/',
      '../x.js',
      'lib/../x.js',
      'lib/../../x.js',
      '../../outside/target.js',
      '/etc/passwd',
      '//lib/x.js',
      'lib//x.js',
      'lib/./y.js',
      'lib/.hidden.js',
      '.git/config',
      'lib\\x.js',
      'lib/..\\x.js',
      'C:\\x.js',
      'C:/x.js',
      'lib/y.js\0',
      'lib/\0.js',
      'lib/%2e%2e/y.js',
      'lib/y.js/',
      'lib/y',
      'lib/y.exe',
      'lib/y.sh',
      'y.js',
      'package.json',
      'node_modules/x.js',
      'lib/con.js',
      'lib/NUL',
      'lib/com1.txt',
      'lib/y.js.',
      'lib/a..b.js',
      'lib/ü.js',
      'lib/y\n.js',
      'lib/y .js',
      `lib/${'y'.repeat(300)}.js`,
      `lib/${'y/'.repeat(20)}y.js`,
      'lib/y:stream.js',
      'lib/-y.js',
      'lib/~y.js',
      'lib/\u202ey.js',
      'blocks',
      'lib/',
    ];

    test.each(names)('%j is refused everywhere, and nothing is made', async (path) => {
      const before = await everything();
      const encoded = encodeURIComponent(path);
      const statuses = [
        (await send(`GET ${api}/file?path=${encoded}`)).status,
        (await write(path, 'text', null)).status,
        (await send(`POST ${api}/file/rename`, { path: 'lib/x.js', to: path, revision: 'x' })).status,
        (await send(`POST ${api}/file/rename`, { path, to: 'lib/z.js', revision: 'x' })).status,
        (await send(`DELETE ${api}/file?path=${encoded}&revision=x`)).status,
        (await send(`POST ${api}/check`, { files: { [path]: 'x' } })).status,
      ];
      expect(statuses).toEqual([400, 400, 400, 400, 400, 400]);
      expect(await everything()).toEqual(before);
    });

    test.each(['lib/link.js', 'lib/dangling.js', 'lib/out/target.js', 'lib/out/new.js', 'lib/inside.js'])(
      'the link %s is neither read nor written',
      async (path) => {
        const before = await everything();
        expect([403, 404]).toContain((await send(`GET ${api}/file?path=${path}`)).status);
        for (const revision of [null, 'x'])
          expect([403, 409]).toContain((await write(path, 'changed', revision)).status);
        expect([403, 404]).toContain((await send(`DELETE ${api}/file?path=${path}&revision=x`)).status);
        expect(await everything()).toEqual(before);
        expect(await readFile(join(themes.directory, 'outside', 'target.js'), 'utf8')).toBe('untouched');
      },
    );

    test.each([
      ['lib/X.js', 409],
      ['LIB/x.js', 400],
      ['Blocks/a.js', 400],
    ])('a name in another case: %s', async (path, status) => {
      expect((await write(path, 'text', null)).status).toBe(status);
    });

    test('a write replaces the name, not what a hard link shares with it', async () => {
      const { revision } = await read('lib/hard.yaml');
      expect((await write('lib/hard.yaml', 'x: 1\n', revision)).status).toBe(200);
      expect(await at('settings.yaml')).toBe(settings);
    });

    test.each([
      ['too large', 'x'.repeat(1024 * 1024 + 1), 413],
      ['with NUL', 'a\0b', 400],
      ['with half a character', 'a\ud800b', 400],
    ])('a text that is %s', async (_title, text, status) => {
      expect([
        (await write('lib/bad.js', text, null)).status,
        await everything().then((all) => all.includes('main/apps/code/lib/bad.js')),
      ]).toEqual([status, false]);
    });

    test('no other app, theme or site', async () => {
      const body = { path: 'settings.yaml', text: 'x', revision: null };
      expect((await send('PUT /apps/sites/site/apps/theirs/file', body)).status).toBe(403);
      expect((await send('PUT /apps/sites/site/apps/nowhere/file', body)).status).toBe(404);
      expect((await send('PUT /apps/sites/nowhere/apps/code/file', body)).status).toBe(404);
      for (const id of ['..', '.', '%2e%2e', '..%2fother', 'code%2f..'])
        expect([400, 404, 405]).toContain((await send(`PUT /apps/sites/site/apps/${id}/file`, body)).status);
      const { json } = await send<CodeFiles>('GET /apps/sites/site/apps/theirs/files');
      expect(json.locked).toMatch(/theme "other"/);
    });
  });
}
