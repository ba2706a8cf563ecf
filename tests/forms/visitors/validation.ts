import { beforeEach, describe, expect, test } from 'vitest';
import type { Stage } from '../../support/stage';
import { html } from '../../support/stage';
import type { Form, Refusal } from '../fields/form';
import { tags } from '../fields/form';

/** `validate` and `context.invalid` (docs/reference/logic.md#own-validation). */
export function validation(stage: Stage): void {
  const form = 'checked/blocks/form';
  const post = (block: string, fields: Form, accept = html) =>
    stage.send<Refusal>({ send: `POST ${block}`, accept, form: { room: 'Blue', ...fields } });
  const records = async () => {
    const { json } = await stage.send<{ id: string }[]>({ as: 'mona', send: 'GET checked/records' });
    return json.map(({ id }) => id);
  };

  describe('own validation', () => {
    beforeEach(() => stage.send({ as: 'mona', send: 'DELETE checked/records' }));
    const guests = { path: ['guests'], message: 'At most <9> guests' };
    const closed = { path: [], message: 'The house is closed' };
    const required = { path: ['room'], message: 'Please fill in this field.' };
    const sunday = { path: ['room'], message: 'Not on Sundays' };
    const hall = { path: ['hall'], message: 'That hall is closed' };
    const refused: [title: string, block: string, fields: Form, errors: object[]][] = [
      ['validate refuses a field', form, { guests: '10', _save: '' }, [guests]],
      [
        'all messages of validate are collected',
        form,
        { guests: '10', how: 'form', _save: '' },
        [guests, closed, hall],
      ],
      ['validate runs beside the checks of fields', form, { room: '', guests: '10', _save: '' }, [required, guests]],
      [
        'fields are wrong, so that what validate throws is no matter',
        form,
        { room: '', how: 'thrown', _save: '' },
        [required],
      ],
      ['on_save refuses', form, { how: 'save', _save: '' }, [sunday]],
      [
        'on_save has two messages',
        form,
        { how: 'twice', _save: '' },
        [
          { path: ['room'], message: 'First.' },
          { path: ['room'], message: 'Second.' },
        ],
      ],
      ['record_id refuses', form, { how: 'id', _save: '' }, [{ path: ['room'], message: 'No id for that' }]],
      [
        'an action refuses',
        form,
        { how: 'action', 'action.book': '' },
        [{ path: ['room'], message: 'That room is taken' }],
      ],
      [
        'an action refuses without an element',
        form,
        { how: 'action', 'action.peek': '' },
        [{ path: [], message: 'Nothing to see' }],
      ],
      ['an action that validates checks the fields first', form, { room: '', 'action.book': '' }, [required]],
      ['an action that validates runs validate first', form, { guests: '10', 'action.book': '' }, [guests]],
      ['a block that is saved by another one refuses', 'checked/blocks/outer', { 'action.store': '' }, [sunday]],
      ['Python: validate refuses', 'checked/blocks/snake', { guests: '10', how: 'form', _save: '' }, [guests, closed]],
      ['Python: on_save refuses', 'checked/blocks/snake', { how: 'save', _save: '' }, [sunday]],
    ];
    test.each(refused)('%s: 422, and nothing is stored', async (_, block, fields, errors) => {
      const page = await post(block, fields);
      expect(page.status, page.text).toBe(422);
      expect(page.text).toContain('role="alert"');
      expect(page.text.match(/\bautofocus\b/g)).toHaveLength(1);
      const { status, json } = await stage.send<Refusal>({ send: `POST ${block}`, json: { room: 'Blue', ...fields } });
      expect([status, json.error.name, json.error.details.errors]).toEqual([422, 'ValidationError', errors]);
      expect(await records()).toEqual([]);
    });

    test('a message stands beside its field, which keeps what was entered', async () => {
      const { text } = await post(form, { guests: '10', _save: '' });
      const [input = ''] = tags(text, 'guests');
      expect(input).toMatch(/value="10".*aria-describedby="([^"]*)".*aria-invalid="true".*autofocus/);
      const id = /aria-describedby="([^"]*)"/.exec(input)?.[1];
      expect(text).toContain(`id="${id}" role="alert">At most &lt;9&gt; guests<`);
      expect(tags(text, 'room')[0]).toContain('value="Blue"');
      expect(text).toContain('records 0');
    });

    test('the messages of the whole form stand above it; the first wrong field has the focus', async () => {
      const { text } = await post(form, { guests: '10', how: 'form', _save: '' });
      expect(text).toMatch(
        /<form[^>]*><input[^>]*_csrf[^>]*>(?:<input[^>]*>|<div hidden>.*?<\/div>)*<div class="apps-errors" role="alert"[^>]*><p>The house is closed<\/p><\/div>/,
      );
      expect(tags(text, 'guests')[0]).toContain('autofocus');
      expect(tags(text, 'hall').join()).not.toContain('autofocus');
      const alone = await post(form, { how: 'action', 'action.peek': '' });
      expect(alone.text).toContain('<div class="apps-errors" role="alert" tabindex="-1" autofocus>');
    });

    test('a valid form is saved, also after a refused one', async () => {
      expect((await post(form, { _save: '' })).status).toBe(303);
      expect(await records()).toEqual(
        ['Blue', 'by-validate', 'log-Blue'].sort().sort((a) => (a === 'by-validate' ? -1 : 1)),
      );
      expect((await post('checked/blocks/snake', { _save: '' })).status).toBe(303);
      expect((await post(form, { 'action.book': '' })).status).toBe(200);
    });

    test('a record that is edited is refused too', async () => {
      await stage.put('checked', 'one', { block: 'form', room: 'Red' });
      const answer = await post('checked/record/one', { room: 'Green', guests: '12', _save: '' });
      expect([answer.status, (await stage.items('checked', 'one'))?.room]).toEqual([422, 'Red']);
      expect(tags(answer.text, 'room')[0]).toContain('value="Green"');
      // A button beside a record that is shown for reading.
      const read = await post('checked/record/one', {
        room: undefined as never,
        how: undefined as never,
        'action.odd': '',
      });
      expect(read.status).toBe(500);
    });

    test('records that JSON sends are refused by on_save and record_id, in bulk too', async () => {
      const items = { block: 'form', room: 'Blue', how: 'save' };
      const one = await stage.send<Refusal>({ send: 'POST checked', json: items });
      expect([one.status, one.json.error.details.errors]).toEqual([422, [sunday]]);
      const many = await stage.send<Refusal>({
        send: 'POST checked/records',
        json: [{ block: 'form', room: 'a' }, items],
      });
      expect([many.status, many.json.error.details.errors]).toEqual([422, [sunday]]);
      await stage.put('checked', 'old', { block: 'form', room: 'Old' });
      expect((await stage.send({ send: 'PATCH checked/record/old', json: { how: 'save' } })).status).toBe(422);
      expect((await stage.send({ send: 'POST checked/blocks/form/book', json: { how: 'action' } })).status).toBe(422);
      expect((await stage.items('checked', 'old'))?.how).toBeUndefined();
      const tooMany = await stage.send<Refusal>({
        send: 'POST checked',
        json: { block: 'form', room: 'b', guests: 12 },
      });
      expect(tooMany.json.error.details.errors).toEqual([{ path: ['guests'], message: 'At most <9> guests' }]);
    });

    test.each(['form', 'snake'])('a record of the block %s stays where its on_delete refuses', async (block) => {
      await stage.put('checked', 'kept', { block, room: 'Kept', how: 'action' });
      const before = await records();
      const page = await stage.send({ send: 'POST checked/record/kept', accept: html, form: { _delete: '' } });
      expect([page.status, page.text]).toEqual([422, expect.stringContaining('<p>This room is kept</p>')]);
      for (const sent of [
        { send: 'DELETE checked/record/kept' },
        { send: 'POST checked/blocks/outer/drop', json: {} },
      ] as const) {
        const { status, json } = await stage.send<Refusal>(sent);
        expect([status, json.error.details.errors]).toEqual([422, [{ path: [], message: 'This room is kept' }]]);
      }
      expect(await records()).toEqual(before);
    });

    test('mistakes with context.invalid are errors of the logic', async () => {
      const unknown = await stage.send<Refusal>({ as: 'mona', send: `POST ${form}`, json: { 'action.odd': '' } });
      expect(unknown.json.error).toMatchObject({
        status: 500,
        name: 'LogicError',
        message: expect.stringContaining('has no element "roomm", did you mean "room"?'),
      });
      const early = await stage.send({ as: 'mona', send: 'GET checked/blocks/early', accept: html });
      expect(early.text).toContain('validate, actions, on_save, on_delete and record_id only');
      const broken = await post(form, { how: 'thrown', _save: '' });
      expect(broken.status).toBe(500);
    });
  });
}
