import { describe, expect, test } from 'vitest';
import type { Stage } from '../../support/stage';
import { stored } from './app';
import { fieldsIn, formOf, forms } from './form';

const items = Object.fromEntries(stored.map(([name, , value]) => [name, value]));

/** `min` and `max` of a date and time are times by the clock of the site. */
export function boundsOfTimes(stage: Stage): void {
  test.each([
    ['site', '2026-12-01T09:00', 201],
    ['site', '2026-12-01T08:59:59', 422],
    ['berlin', '2026-12-01T08:00:00.000Z', 201],
    ['berlin', '2026-12-01T07:59:59Z', 422],
    ['berlin', '2026-12-01T11:00-05:00', 201],
    ['berlin', '2026-12-01T16:30Z', 422],
    ['berlin', '2026-12-01T17:00', 201],
  ])('the site %s says of %s: %i', async (site, at, status) => {
    const json = { block: 'opening', at };
    expect((await stage.send({ as: 'mona', send: `POST /${site}/@@apps/edited`, json })).status).toBe(status);
  });
}

/** A form changes what its sender has changed, and nothing else. */
export function untouchedFields(stage: Stage): void {
  const { open, post } = forms(stage);

  describe('a record whose values its form cannot show', () => {
    test('keeps them where another field was changed', async () => {
      await stage.keep('edited', 'old', { block: 'old', name: 'before', ...items });
      const fields = await open('edited/record/old/edit');
      const saved = await post('edited/record/old', formOf(fields, { name: 'after', _save: '' }));
      expect(saved.status, saved.text).toBe(303);
      expect(await stage.items('edited', 'old')).toEqual({ id: 'old', block: 'old', name: 'after', ...items });
    });

    test('shows an option that is no longer offered as chosen, in the words of its language', async () => {
      await stage.keep('edited', 'shown', { block: 'old', ...items });
      const { text } = await stage.send({ send: 'GET edited/record/shown/edit', accept: 'text/html' });
      expect(text).toContain('<option value="green" selected>green (no longer offered)</option>');
      expect(text).toMatch(/type="radio" value="green" checked> <label [^>]*>green \(no longer offered\)/);
      expect(text).toMatch(/type="checkbox" value="green" checked> <label [^>]*>green \(no longer offered\)/);
      expect(text).toMatch(/name="comma" type="text" value="1,5"/);
      expect(text).toMatch(/name="german_day" type="text" value="01.03.2026"/);
      expect(text).toMatch(/name="zone" type="datetime-local" value="2026-03-01T09:30:00"/);
      expect(text).toMatch(/name="yes" type="checkbox" value="1" checked/);
      expect(text).toMatch(/name="rows:0:kind"[^>]*>.*?<option value="b" selected>b \(no longer offered\)/s);
    });

    test('takes what is entered in their place, and other options beside one that is no longer offered', async () => {
      await stage.keep('edited', 'new', { block: 'old', ...items });
      const entered = {
        gone: 'blue',
        many_gone: ['green', 'blue'],
        boxes_gone: ['blue'],
        comma: '1.5',
        german_day: '2026-03-01',
        zone: '2026-03-01T10:00',
        maybe: '1',
        lines: 'c',
      };
      const fields = await open('edited/record/new/edit');
      expect((await post('edited/record/new', formOf(fields, { ...entered, _save: '' }))).status).toBe(303);
      expect(await stage.items('edited', 'new')).toEqual({
        id: 'new',
        block: 'old',
        name: '',
        ...items,
        ...entered,
        many_gone: ['blue', 'green'],
        comma: 1.5,
        maybe: true,
      });
    });

    test('refuses a value that was neither stored nor is offered, and shows it again', async () => {
      await stage.keep('edited', 'wrong', { block: 'old', ...items });
      const fields = await open('edited/record/wrong/edit');
      const sent = formOf(fields, { gone: 'black', comma: '2,5', _save: '' });
      const refused = await post('edited/record/wrong', sent);
      expect(refused.status).toBe(422);
      expect(refused.text).toMatch(/name="comma" type="text" value="2,5"/);
      expect(refused.text).toContain('Please choose one of the options.');
      expect(refused.text).not.toContain('value="black"');
      const { id, ...left } = (await stage.items('edited', 'wrong')) ?? {};
      expect(left).toEqual({ block: 'old', ...items });
    });

    test('keeps them in the entries of a group that moves', async () => {
      await stage.keep('edited', 'moved', { block: 'old', ...items });
      const fields = await open('edited/record/moved/edit');
      const down = await stage.send({
        send: 'POST edited/record/moved',
        accept: 'text/html',
        form: formOf(fields, { 'rows:down:0': '1' }),
      });
      expect(down.status).toBe(200);
      const saved = await post('edited/record/moved', formOf(fieldsIn(down.text), { _save: '' }));
      expect(saved.status, saved.text).toBe(303);
      const [first, second] = items.rows as object[];
      expect((await stage.items('edited', 'moved'))?.rows).toEqual([second, first]);
    });
  });
}
