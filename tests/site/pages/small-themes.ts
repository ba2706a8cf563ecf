import { describe, expect, test } from 'vitest';
import { openStage } from '../../support/stage';
import { siteThemes } from '../../support/theme';
import { page } from './requests';

export function smallThemes(): void {
  describe('themes with little or nothing in them', () => {
    test.each([
      ['empty', 'APPS_THEME', 'empty', /<main><article>\n<h1>Demo site<\/h1>/],
      ['whole but for its rules.yaml', 'APPS_THEME', 'broken', /<footer>End<\/footer>/],
    ])('the portal is shown by a theme that is %s', async (_, name, value, expected) => {
      const stage = await openStage({ themesDirectory: siteThemes, env: { [name]: value } });
      try {
        const { status, text } = await stage.send({ ...page, send: 'GET /site/' });
        expect(status, text).toBe(200);
        expect(text).toMatch(expected);
      } finally {
        await stage.close();
      }
    });
  });
}
