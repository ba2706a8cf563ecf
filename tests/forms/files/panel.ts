import { describe, expect, test } from 'vitest';
import type { FormOutcome } from '../../../plugins/apps/shared/admin-api';
import type { Stage } from '../../support/stage';
import { formBody, heldIn, libraryNames, type Part, pdf, png } from './send';

interface Refused {
  error: { details: { errors: { path: string[]; message: string }[]; html: string } };
}

/** New files in the record form of the admin panel, with the app `album`. @param held path of the temporary folder */
export function panelFiles(stage: Stage, held: () => string): void {
  const address = '/apps/sites/site/apps/album/form';
  const headers = { 'content-type': 'multipart/form-data; boundary=b' };
  const fields = { title: 'A', 'photos:0:caption': 'first', _save: '' };
  const file = (name: string, given: string, content: Part['content']): Part => ({ name, file: given, content });
  const send = <T = FormOutcome>(files: Part[], more: object = {}, as = 'clerk') => {
    const options = JSON.stringify({ block: 'album', fields, ...more });
    const body = formBody([{ name: 'options', content: options }, ...files]);
    return stage.send<T>({ as, send: `POST ${address}`, body, headers });
  };
  const items = async (id: string) => (await stage.items('album', id)) as Record<string, never>;

  describe("new files in the panel's form", () => {
    test('are in the record, also in entries of groups, and replaced by others', async () => {
      const made = await send([file('cover', 'c.pdf', pdf), file('photos:0:image', 'p.png', png)]);
      expect([made.status, made.json.kind]).toEqual([200, 'saved']);
      const { id } = made.json as { id: string };
      const photo = { caption: 'first', image: { name: 'p.png', mime: 'image/png' } };
      expect(await items(id)).toMatchObject({ cover: { name: 'c.pdf' }, photos: [photo] });
      const stored = (await items(id)).photos as unknown as { image: { documentId: string } }[];
      const kept = { ...fields, 'photos:0:image': `stored:${stored[0]?.image.documentId}` };
      expect((await send([file('cover', 'd.pdf', pdf)], { id, fields: kept })).json).toEqual({ kind: 'saved', id });
      expect(await items(id)).toMatchObject({ cover: { name: 'd.pdf' }, photos: [photo] });
      await expect.poll(() => libraryNames(stage)).not.toContain('c.pdf');
      await expect.poll(() => heldIn(held())).toEqual([]);
    });

    test('are checked as on the site, and those that are right wait for the next sending', async () => {
      const wrong = file('photos:0:image', 'p.png', 'no image');
      const refused = await send<Refused>([file('cover', 'kept.pdf', pdf), wrong]);
      expect(refused.status).toBe(422);
      expect(refused.json.error.details.errors).toMatchObject([{ path: ['photos', '0', 'image'] }]);
      const [, token = ''] = /value="(kept:[0-9a-f]+)"/.exec(refused.json.error.details.html) ?? [];
      expect(token).not.toBe('');
      const again = await stage.send<{ kind: string; id: string }>({
        as: 'clerk',
        send: `POST ${address}`,
        json: { block: 'album', fields: { ...fields, cover: token } },
      });
      expect(again.json.kind).toBe('saved');
      expect(await items(again.json.id)).toMatchObject({ cover: { name: 'kept.pdf' } });
    });

    test.each<[string, Part[], object, string, number]>([
      ['too large', [file('photos:0:image', 'p.png', Buffer.concat([png, Buffer.alloc(110_000)]))], {}, 'clerk', 422],
      ['in a field of text', [file('title', 'p.png', png)], {}, 'clerk', 415],
      ['in no field', [file('nothing', 'p.png', png)], {}, 'clerk', 415],
      ['of an unknown block', [file('cover', 'c.pdf', pdf)], { block: 'none' }, 'clerk', 415],
      ['without fields', [file('cover', 'c.pdf', pdf)], { fields: undefined }, 'clerk', 400],
      ['of a reader', [file('cover', 'c.pdf', pdf)], {}, 'overseer', 403],
      ['of no administrator', [file('cover', 'c.pdf', pdf)], {}, 'anonymous', 401],
    ])('%s: refused, and nothing stays', async (_title, files, more, as, status) => {
      const before = [await libraryNames(stage), (await heldIn(held())).length];
      const answer = await send(files, more, as);
      expect(answer.status, answer.text).toBe(status);
      await expect.poll(async () => [await libraryNames(stage), (await heldIn(held())).length]).toEqual(before);
    });
  });
}
