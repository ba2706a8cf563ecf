import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { Ended } from '../../support/command-line';
import type { Host } from '../../support/host';
import { libraryNames, pdf, png } from '../files/send';
import { attach, type Items, type PrivateTools, wide } from './tools';

/**
 * Moves of files between the media library and the private storage, by another process and when a step fails.
 * @param run the command line on the database of the stage; without it the other process is the twin
 */
export function moves({ stage, twin, get, made, kept }: PrivateTools, run?: (args: string[]) => Promise<Ended>): void {
  describe('that are moved', () => {
    type Report = { moved: number; there: number; otherwise: number; gone: number; failed: unknown[] };
    type Given = ['private' | 'public', string?];
    const moveIn = (host: Host, given: Given): Promise<Report[]> =>
      // An argument that is left out must not arrive as null.
      host.run(
        (strapi, asked) =>
          strapi
            .plugin('apps')
            .service('files')
            .move(...asked),
        given,
      );
    const move = (...given: Given) => moveIn(stage.host, given);
    const moveElsewhere = async (given: Given, report: Partial<Report>, text: string) => {
      if (!run) return expect(await moveIn(twin, given)).toMatchObject([report]);
      const { code, out, err } = await run(['files', ...(given as string[])]);
      expect(code, err).toBe(0);
      expect(out).toBe(text);
    };
    let id = '';
    const fileOf = async (name: 'cv' | 'photo' | 'shop') => ((await stage.items('cv', id)) as unknown as Items)[name];
    const read = async (name: 'cv' | 'photo' | 'shop', as = 'anonymous') =>
      (await get(as, (await fileOf(name)).url)).status;
    const content = wide(600, 300);
    beforeAll(async () => {
      await stage.send({ as: 'mona', send: 'DELETE cv/records' });
      await vi.waitFor(async () => expect(await kept()).toEqual([]));
      id = (
        await made('una', [
          attach,
          { name: 'photo', file: 'me.png', content },
          { name: 'shop', file: 's.png', content: png },
        ])
      ).id;
    });

    test('are in the media library, and come back, with every byte', async () => {
      const before = await fileOf('cv');
      const photo = await get('una', (await fileOf('photo')).url);
      await moveElsewhere(['public', 'cv'], { moved: 2, there: 1, failed: [] }, 'site/cv: 2 moved, 1 were public\n');
      expect(await kept()).toEqual([]);
      const [cv, picture] = [await fileOf('cv'), await fileOf('photo')];
      expect([cv.url, cv.documentId, cv.name]).toEqual([
        expect.stringContaining('/uploads/'),
        before.documentId,
        before.name,
      ]);
      expect((await get('anonymous', cv.url)).bytes.equals(pdf)).toBe(true);
      expect((await get('anonymous', picture.url)).bytes.equals(photo.bytes)).toBe(true);
      expect((await get('anonymous', picture.thumbnail ?? '')).bytes.readUInt32BE(16)).toBe(245);
      expect((await get('una', before.url)).status).toBe(404);

      const stays = 'site/cv: 2 moved, 1 stay public: their elements say `public: true`\n';
      await moveElsewhere(['private'], { moved: 2, otherwise: 1, failed: [] }, stays);
      expect(await libraryNames(stage)).toEqual(['s.png']);
      for (const { url, thumbnail } of [cv, picture])
        for (const one of [url, thumbnail]) if (one) expect((await get('anonymous', one)).status).toBe(404);
      expect(await fileOf('cv')).toEqual(before);
      expect((await get('una', before.url)).bytes.equals(pdf)).toBe(true);
      expect((await get('una', (await fileOf('photo')).url)).bytes.equals(photo.bytes)).toBe(true);
      expect((await get('una', (await fileOf('photo')).thumbnail ?? '')).bytes.readUInt32BE(16)).toBe(245);
      expect(await move('private')).toMatchObject([{ moved: 0, there: 2, otherwise: 1, failed: [] }]);
      expect(await move('public')).toMatchObject([{ moved: 0, otherwise: 2, there: 1 }]);
    }, 180_000);

    test('stay where they are when a step fails, and are moved by the next attempt', async () => {
      const failing = (name: 'uploadStream' | 'delete', is: boolean) =>
        stage.host.run(
          (strapi, one, fails) => {
            const { provider } = strapi.plugin('upload') as unknown as { provider: Record<string, unknown> };
            const box = globalThis as typeof globalThis & { before: Record<string, unknown> };
            box.before ??= { ...provider };
            provider[one] = fails
              ? async () => {
                  throw new Error('no storage');
                }
              : box.before[one];
          },
          name,
          is,
        );
      await failing('uploadStream', true);
      const [none] = await move('public', 'cv');
      expect(none).toMatchObject({ moved: 0, failed: [{ message: 'no storage' }, { message: 'no storage' }] });
      expect([await read('cv', 'una'), await read('cv'), (await kept()).length]).toEqual([200, 404, 3]);
      await failing('uploadStream', false);
      expect(await move('public', 'cv')).toMatchObject([{ moved: 2, failed: [] }]);
      expect(await read('cv')).toBe(200);
      await failing('delete', true);
      const [half] = await move('private', 'cv');
      expect(half).toMatchObject({ moved: 0, failed: [{}, {}] });
      // Its bytes are at both places, but its address is the private one.
      expect([await read('cv', 'una'), await read('cv')]).toEqual([200, 404]);
      await failing('delete', false);
      expect(await move('private', 'cv')).toMatchObject([{ moved: 2, failed: [] }]);
      expect([await read('cv', 'una'), await libraryNames(stage)]).toEqual([200, ['s.png']]);
    });

    test('are gone with their records, at either place', async () => {
      await move('public', 'cv');
      await stage.send({ as: 'mona', send: 'DELETE cv/records' });
      await expect.poll(() => libraryNames(stage)).toEqual([]);
      expect(await kept()).toEqual([]);
    });
  });
}
