import { describe, expect, test } from 'vitest';
import type { Stage } from '../../support/stage';
import { html } from '../../support/stage';
import { expectAnswer, runTable } from '../../support/table';

export function writesOfLogic(stage: Stage): void {
  describe('writing during GET needs a token', () => {
    const write = (id: string) => `GET open/blocks/values/write?id=${id}`;
    runTable(stage, [
      { title: 'a GET that writes is refused without a token', send: write('g1'), status: 403, error: 'CsrfError' },
      { title: 'a HEAD that writes is refused without a token', send: write('g2').replace('GET', 'HEAD'), status: 403 },
      {
        title: 'a GET that writes is refused with a wrong token',
        send: write('g3'),
        headers: { 'x-csrf-token': 'x' },
        status: 403,
        error: 'CsrfError',
      },
      { title: 'a refused GET has written nothing', send: 'GET open/records', status: 200, is: [] },
      { title: 'a POST with a token writes', send: 'POST open/blocks/values/write?id=g4', status: 200, is: 'g4' },
      {
        title: 'the writes of the POST are kept',
        send: 'GET open/record/g4',
        status: 200,
        is: { total: 1, id: 'g4' },
      },
    ]);
    test('a GET with a right token writes', async () => {
      const headers = { 'x-csrf-token': await stage.csrf('anonymous') };
      expectAnswer(await stage.send({ send: write('g5'), headers }), { status: 200, is: 'g5' });
      expect(await stage.items('open', 'g5')).toEqual({ total: 1, id: 'g5' });
    });
  });

  describe('one unit of work a request', () => {
    const ids = async () => {
      const { json } = await stage.send<{ id: string }[]>({ send: 'GET undo/records' });
      return json.map(({ id }) => id).sort();
    };
    const save = (name: string) =>
      stage.send({ send: 'POST undo/blocks/saver', accept: html, form: { name, _save: '' } });

    test('on_save that throws rolls everything back', async () => {
      expect((await save('bad')).status).toBe(500);
      expect(await ids()).toEqual([]);
      expect((await save('fine')).status).toBe(303);
      expect(await ids()).toHaveLength(2);
      expect((await stage.send({ send: 'POST undo/search', json: { query: "name == 'bad'" } })).json).toEqual([]);
      await stage.send({ send: 'DELETE undo/records' });
    });

    runTable(stage, [
      {
        title: 'on_save that throws rolls back a creation by REST',
        send: 'PUT undo/record/r1',
        json: { block: 'saver', name: 'bad' },
        status: 500,
        error: 'LogicError',
      },
      {
        title: 'on_save that throws rolls back a bulk creation',
        send: 'POST undo/records',
        json: [
          { id: 'r2', block: 'saver', name: 'good' },
          { id: 'r3', block: 'saver', name: 'bad' },
        ],
        status: 500,
        error: 'LogicError',
      },
      {
        title: 'an element that throws rolls back its writes',
        send: 'POST undo/blocks/saver/write_and_fail',
        status: 500,
        error: 'LogicError',
      },
      { title: 'nothing is left of failed requests', send: 'GET undo/records', status: 200, is: [] },
      {
        title: 'a record whose on_save is fine is created',
        send: 'PUT undo/record/keep',
        json: { block: 'saver', name: 'keep' },
        status: 201,
      },
      {
        title: 'on_save that throws fails an update',
        send: 'PATCH undo/record/keep',
        json: { name: 'bad' },
        status: 500,
        error: 'LogicError',
      },
      {
        title: 'a failed update changes nothing',
        send: 'GET undo/record/keep',
        status: 200,
        gives: { name: 'keep', touched: true },
      },
      {
        title: 'on_delete that throws fails a deletion',
        send: 'DELETE undo/record/keep',
        status: 500,
        error: 'LogicError',
      },
      {
        title: 'a failed deletion deletes nothing',
        send: 'GET undo/record/keep',
        status: 200,
        gives: { name: 'keep' },
      },
      {
        title: 'a failed deletion has written nothing',
        send: 'GET undo/record/deleted-note',
        status: 404,
        error: 'NotFoundError',
      },
      {
        title: 'items are saved and indexed without save()',
        send: 'POST undo/blocks/saver/unsaved',
        status: 200,
        is: ['u1'],
      },
      {
        title: 'items that were indexed without save() stay',
        send: 'POST undo/search',
        json: { query: "name == 'without save'" },
        status: 200,
        gives: [{ id: 'u1', items: { total: 7 } }],
      },
      {
        title: 'a failing action is an error',
        send: 'POST flow/blocks/buttons',
        accept: html,
        form: { 'action.fail': '' },
        status: 500,
      },
      {
        title: 'a failing action leaves nothing',
        send: 'GET flow/record/counter',
        status: 404,
        error: 'NotFoundError',
      },
    ]);
  });
}
