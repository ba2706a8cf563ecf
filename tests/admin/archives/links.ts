import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { useStage } from '../../support/hooks';
import type { Stage } from '../../support/stage';
import type { ThemeCopy } from '../../support/theme';

/** Links to apps of other themes, made and removed in the admin panel. */
export function linksBetweenThemes(stage: Stage, themes: ThemeCopy): void {
  describe('links', () => {
    const link = (json: object, theme = 'main') =>
      stage.send({ as: 'ada', send: `POST /apps/themes/${theme}/links`, json });

    test('to an app of another theme are made and removed', async () => {
      await themes.write('other/apps/borrowed/blocks/a.html', '<p>borrowed</p>');
      const page = () => stage.send({ send: 'GET borrowed/blocks/a', accept: 'text/html' });
      expect((await page()).status).toBe(404);
      expect((await link({ app: 'borrowed', theme: 'other' })).status).toBe(201);
      expect((await page()).text).toContain('<p>borrowed</p>');
      expect((await link({ app: 'borrowed', theme: 'other' })).status).toBe(409);
      const remove = () => stage.send({ as: 'ada', send: 'DELETE /apps/themes/main/links?app=borrowed' });
      expect((await remove()).status).toBe(200);
      await expect.poll(async () => (await page()).status).toBe(404);
      expect((await remove()).status).toBe(404);
      expect(existsSync(path.join(themes.directory, 'other/apps/borrowed/blocks/a.html'))).toBe(true);
    });

    test.each<[json: object, status: number]>([
      [{ app: 'shelf', theme: 'main' }, 400],
      [{ app: 'none', theme: 'other' }, 400],
      [{ app: '../x', theme: 'other' }, 400],
      [{ app: 'a', theme: '../other' }, 400],
      [{ app: 'a', theme: 'none' }, 404],
      [{ app: 'shelf' }, 400],
    ])('%j is refused', async (json, status) => {
      expect((await link(json)).status).toBe(status);
    });
  });

  describe('where editing is switched off', () => {
    const off = useStage(() => ({ themesDirectory: themes.directory, env: { NODE_ENV: 'production' } }));

    test('nothing is written', async () => {
      const json = { app: 'borrowed', theme: 'other' };
      const answer = await off.send({ as: 'ada', send: 'POST /apps/themes/main/links', json });
      expect([answer.status, answer.text]).toEqual([403, expect.stringContaining('switched off')]);
      expect((await off.send({ as: 'ada', send: 'DELETE /apps/themes/main/links?app=linked' })).status).toBe(403);
    });
  });
}
