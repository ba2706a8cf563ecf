import { describe, expect, test } from 'vitest';
import type { Stage } from '../../support/stage';
import { html, type Person, type Row } from '../../support/stage';
import { runTable } from '../../support/table';

export function rightsToForms(stage: Stage): void {
  describe('saving by a form needs the right to create', () => {
    const save = (app: string, block: string, as: Person, status: number, rest: Partial<Row> = {}): Row => ({
      title: 'a form saves',
      as,
      send: `POST ${app}/blocks/${block}`,
      accept: html,
      form: { name: 'By a form', _save: '' },
      status,
      ...rest,
    });
    runTable(stage, [
      save('rights', 'form', 'anonymous', 401, { has: ['@@login?next=%2Fsite%2F%40%40apps%2Frights%2Fblocks%2Fform'] }),
      save('rights', 'form', 'una', 403),
      save('rights', 'form', 'rita', 403),
      ...['anna', 'eric', 'sam', 'mona', 'creator', 'root'].map((who) => save('rights', 'form', who, 303)),
      save('rights', 'form', 'anonymous', 401, { accept: 'application/json', error: 'UnauthorizedError' }),
      save('rights', 'form', 'una', 403, { accept: 'application/json', error: 'ForbiddenError' }),
      save('rights', 'form', 'sam', 201, { accept: 'application/json' }),
      // Without `acl`: a manager's.
      save('guarded', 'everyone', 'anonymous', 401),
      save('guarded', 'everyone', 'eric', 403),
      save('guarded', 'everyone', 'mona', 303),
      {
        title: 'a form that does not save needs no right to create',
        send: 'POST guarded/blocks/everyone',
        accept: html,
        form: {},
        status: 200,
      },
    ]);

    test('a form of a visitor without the right stores nothing', async () => {
      const count = async () => (await stage.send<unknown[]>({ as: 'mona', send: 'GET rights/records' })).json.length;
      const before = await count();
      for (const as of ['anonymous', 'una'])
        await stage.send({ as, send: 'POST rights/blocks/form', accept: html, form: { name: 'x', _save: '' } });
      expect(await count()).toBe(before);
    });

    test('a visitor who may not read the saved record is thanked, and reads nothing of it', async () => {
      const form = { name: 'By Sam', _save: '' };
      const { headers } = await stage.send({ as: 'sam', send: 'POST rights/blocks/form', accept: html, form });
      const { pathname, search } = new URL(String(headers.location));
      const page = await stage.send({ as: 'sam', send: `GET ${pathname}${search}`, accept: html });
      expect(page.status).toBe(200);
      expect(page.text).toContain('Thank you');
      expect(page.text).not.toContain('By Sam');
      expect((await stage.send({ as: 'sam', send: `GET ${pathname}`, accept: html })).status).toBe(403);
      expect((await stage.send({ as: 'sam', send: `GET ${pathname}${search}` })).status).toBe(403);
      const read = await stage.send({ as: 'rita', send: `GET ${pathname}${search}`, accept: html });
      expect(read.text).toContain('By Sam');
    });
  });
}
