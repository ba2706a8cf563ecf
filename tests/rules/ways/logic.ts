import { describe, expect, test } from 'vitest';
import type { Items } from '../../../plugins/apps/shared/json';
import type { Stage } from '../../support/stage';
import { foreignFile, right } from './rules';

/** What logic may do with records of blocks, and what it may not. */
export function rulesOfLogic(stage: Stage): void {
  /** Calls a function of the block `tool` for a stored record. */
  async function change(element: string, items: Items) {
    await stage.put('strict', 'changed', right, 'mona');
    const json = { id: 'changed', items, isChange: true };
    return stage.send({ as: 'eric', send: `POST strict/blocks/tool/${element}`, json });
  }
  const stored = () => stage.items('strict', 'changed');

  describe('a change by logic', () => {
    test('that breaks a rule is refused with the paths of all fields', async () => {
      const { status, json } = await change('make', { title: '', age: 1 });
      expect([status, json]).toMatchObject([
        422,
        { error: { details: { errors: [{ path: ['title'] }, { path: ['age'] }] } } },
      ]);
      expect(await stored()).toMatchObject(right);
    });

    test('that breaks a rule is refused also where logic catches the error, with all that it has stored', async () => {
      const { status, json } = await change('caught', { title: '' });
      expect([status, json]).toMatchObject([422, { error: { details: { errors: [{ path: ['title'] }] } } }]);
      expect(await stored()).toMatchObject(right);
      expect(await stage.items('strict', 'beside')).toBeNull();
    });

    test.each([
      ['failing', 'validate', 500],
      ['failing', 'stamp', 500],
      ['failing', 'record_id', 500],
      ['failing', 'on_save', 500],
      ['closed', 'Right', 403],
      ['unknown', 'Right', 500],
    ])('into the block %s that fails in %s ends the request also where logic catches the error: %i', async (...row) => {
      const [block, title, status] = row;
      const json = { id: 'caught', items: { block, title, stamp: 'of the visitor' } };
      const answer = await stage.send({ as: 'eric', send: 'POST strict/blocks/tool/caught', json });
      expect(answer.status, answer.text).toBe(status);
      expect(await Promise.all(['caught', 'beside', 'half'].map((id) => stage.items('strict', id)))).toEqual([
        null,
        null,
        null,
      ]);
    });

    test('stores what its condition hides as null', async () => {
      expect((await change('make', { party: true, guests: 5 })).status).toBe(200);
      expect(await stored()).toMatchObject({ party: true, guests: 5 });
      const json = { id: 'changed', items: { party: false, guests: 6 }, isChange: true };
      expect((await stage.send({ as: 'eric', send: 'POST strict/blocks/tool/make', json })).status).toBe(200);
      expect(await stored()).toMatchObject({ party: false, guests: null });
    });

    test('keeps what depends on a value that was stored under other rules', async () => {
      const before = { ...right, kind: ['company'], vat: 'X1' };
      await stage.keep('strict', 'typed', before);
      const json = { id: 'typed', items: { code: 'CD' }, isChange: true };
      expect((await stage.send({ as: 'eric', send: 'POST strict/blocks/tool/make', json })).status).toBe(200);
      expect(await stage.items('strict', 'typed')).toMatchObject({ ...before, code: 'CD' });
    });

    test('moves a file to another field of its record', async () => {
      await stage.keep('strict', 'filed', { ...right, paper: foreignFile });
      const json = { id: 'filed', items: { letter: foreignFile, paper: null }, isChange: true };
      expect((await stage.send({ as: 'eric', send: 'POST strict/blocks/tool/make', json })).status).toBe(200);
      expect(await stage.items('strict', 'filed')).toMatchObject({ letter: { documentId: 'foreign' }, paper: null });
    });

    test('by an assignment is the author’s own: it is not checked', async () => {
      expect((await change('assigned', { title: '', extra: 1 })).status).toBe(200);
      expect(await stored()).toMatchObject({ title: '', extra: 1, stamp: 'stamp of Right' });
    });
  });
}
