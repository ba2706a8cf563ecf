import { describe, expect, test } from 'vitest';
import type { Stage } from '../../support/stage';
import { type Form, fieldsIn, formOf, forms } from './form';

const person = { block: 'person', name: 'Ann', phone: '030 1234', town: 'b', news: false, rows: [{ a: 'x', b: 1 }] };

/** Two people, or two tabs, that edit one record. */
export function twoPeople(stage: Stage): void {
  const { open, post } = forms(stage);
  let made = 0;
  /** A record, and the forms that two people have opened. */
  const opened = async () => {
    made += 1;
    const id = `two-${made}`;
    await stage.keep('edited', id, person);
    const path = `edited/record/${id}`;
    const [first, second] = [await open(`${path}/edit`), await open(`${path}/edit`)];
    return { id, path, first, second };
  };
  const save = (path: string, fields: [string, string][], changed: Form) =>
    post(path, formOf(fields, { ...changed, _save: '' }));

  describe('two people who edit one record', () => {
    test('both keep what they have changed, where they have changed different fields', async () => {
      const { id, path, first, second } = await opened();
      expect((await save(path, first, { name: 'Anna', news: '1', 'rows:1:a': 'y' })).status).toBe(303);
      expect((await save(path, second, { phone: '040 9876', town: 'p' })).status).toBe(303);
      expect(await stage.items('edited', id)).toEqual({
        id,
        block: 'person',
        name: 'Anna',
        phone: '040 9876',
        town: 'p',
        news: true,
        rows: [
          { a: 'x', b: 1 },
          { a: 'y', b: null },
        ],
        changes: 2,
        saved_name: 'Anna',
      });
    });

    test('the second gets the form again where both have changed one field, with both values', async () => {
      const { id, path, first, second } = await opened();
      expect((await save(path, first, { name: 'Anna', town: 'p' })).status).toBe(303);
      const refused = await save(path, second, { name: 'Bob', phone: '1234' });
      expect(refused.status).toBe(409);
      expect(refused.text).toContain('Somebody else has changed this since you opened it.');
      expect(refused.text).toMatch(/name="name" type="text" value="Bob".*Stored in the meantime: Anna\./s);
      expect(refused.text).toContain('<option value="p" selected>Paris</option>');
      expect(await stage.items('edited', id)).toMatchObject({ name: 'Anna', phone: '030 1234', changes: 1 });
      // Sent again, it replaces what its sender has seen.
      expect((await save(path, fieldsIn(refused.text), {})).status).toBe(303);
      expect(await stage.items('edited', id)).toMatchObject({ name: 'Bob', phone: '1234', town: 'p', changes: 2 });
    });

    test('a third change in the meantime is noticed too, and so is one after a refused form', async () => {
      const { id, path, first, second } = await opened();
      await save(path, first, { name: 'Anna' });
      const refused = await save(path, second, { name: 'Bob' });
      await save(path, await open(`${path}/edit`), { name: 'Cy' });
      const again = await save(path, fieldsIn(refused.text), {});
      expect(again.status).toBe(409);
      expect(again.text).toContain('Stored in the meantime: Cy.');
      const wrong = await save(path, fieldsIn(again.text), { name: '' });
      expect(wrong.status).toBe(422);
      await save(path, await open(`${path}/edit`), { name: 'Di', phone: '5678' });
      const last = await save(path, fieldsIn(wrong.text), { name: 'Bob' });
      expect(last.status).toBe(409);
      expect(await stage.items('edited', id)).toMatchObject({ name: 'Di', phone: '5678' });
    });

    test('the same value of both is no conflict, nor is a value that logic has set', async () => {
      const { id, path, first, second } = await opened();
      await save(path, first, { name: 'Anna' });
      expect((await save(path, second, { name: 'Anna', phone: '5678' })).status).toBe(303);
      const third = await open(`${path}/edit`);
      expect((await post(path, formOf(third, { 'action.mark': '' }))).status).toBe(200);
      expect((await save(path, third, { town: 'p' })).status).toBe(303);
      expect(await stage.items('edited', id)).toMatchObject({ name: 'Anna', phone: '110', town: 'p' });
    });

    test.each<[string, Form, Form, string]>([
      ['a list', { town: 'p' }, { town: '' }, 'Stored in the meantime: Paris.'],
      ['a group', { 'rows:0:a': 'y' }, { 'rows:0:a': 'z' }, 'Stored in the meantime: a: y, b: 1.'],
      ['an emptied field', { phone: '' }, { phone: '1234' }, 'This was emptied in the meantime.'],
    ])('%s says what is stored now', async (_what, theirs, own, text) => {
      const { path, first, second } = await opened();
      await save(path, first, theirs);
      const refused = await save(path, second, own);
      expect(refused.status).toBe(409);
      expect(refused.text).toContain(text);
      expect((await save(path, fieldsIn(refused.text), {})).status).toBe(303);
    });

    test('an action that saves the form, a form in place, and a JSON client are refused alike', async () => {
      const { id, path, first, second } = await opened();
      await save(path, first, { name: 'Anna' });
      const kept = await post(path, formOf(second, { name: 'Bob', 'action.keep': '' }));
      expect([kept.status, /name="name" type="text" value="Bob"/.test(kept.text)]).toEqual([409, true]);
      const fragment = await post(path, formOf(second, { name: 'Bob', _save: '' }), 'text/html+fragment');
      expect(fragment.status).toBe(409);
      expect(fragment.text).toMatch(/^<form /);
      expect(await stage.items('edited', id)).toMatchObject({ name: 'Anna' });
      const merged = await post(path, formOf(second, { phone: '5678', 'action.keep': '' }));
      expect(merged.status).toBe(200);
      expect(await stage.items('edited', id)).toMatchObject({ name: 'Anna', phone: '5678' });
    });

    test('a form that names the version alone is refused where anything else is stored', async () => {
      const { id, path } = await opened();
      const etag = (await stage.send({ send: `GET ${path}` })).headers.etag;
      const version = String(etag).replaceAll('"', '');
      const whole = { name: 'Ann', phone: '030 1234', town: 'b', 'rows:0:a': 'x', 'rows:0:b': '1', _version: version };
      await stage.send({ send: `PATCH ${path}`, json: { phone: '5678' } });
      expect((await post(path, { ...whole, _csrf: await stage.csrf('anonymous'), _save: '' })).status).toBe(409);
      expect(await stage.items('edited', id)).toMatchObject({ phone: '5678' });
    });
  });
}
