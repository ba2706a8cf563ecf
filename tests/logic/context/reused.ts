import { describe, expect, test } from 'vitest';
import type { Stage } from '../../support/stage';

/**
 * Functions that say what only a context that serves several sessions shows, its sealed built-ins: files of a theme by path. They read
 * the clock, so that no answer is kept.
 */
export const sealedApp: Record<string, string> = {
  'apps/sealed/settings.yaml': "acl:\n  rights:\n    editor: ['*']\n",
  'apps/sealed/blocks/plain.yaml': 'elements: { sealed: BASIC }\n',
  'apps/sealed/blocks/plain.js':
    'export const sealed = ({ now }) => now !== "" && Object.isSealed(Object.prototype);\n',
  'apps/sealed/blocks/patched.yaml': 'elements: { sealed: BASIC }\n',
  'apps/sealed/blocks/patched.js': `
Array.prototype.second = function () { return this[1]; };
export const sealed = ({ now }) => [now, Object.isSealed(Object.prototype)].second();
`,
};

/** Contexts that serve several sessions (docs/decisions/reused-contexts.md), on a server with the default configuration. */
export function contextsOfPrograms(stage: Stage): void {
  describe('contexts of programs', () => {
    const sealed = async (block: string) => (await stage.send({ send: `GET sealed/blocks/${block}/sealed` })).json;

    test('later sessions of a program share a context', async () => {
      await expect.poll(() => sealed('plain'), { interval: 1, timeout: 30_000 }).toBe(true);
    });

    test('each session of a program that changes built-ins has its own', async () => {
      for (let time = 0; time < 20; time += 1) expect(await sealed('patched')).toBe(false);
    });
  });
}
