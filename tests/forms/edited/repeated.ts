import { describe, expect, test } from 'vitest';
import type { Stage } from '../../support/stage';
import { type Fields, type Form, fieldsIn, formOf, forms } from './form';

const times = <T>(count: number, work: (at: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, at) => work(at)));

/** A form, or a JSON request, that arrives more than once: a double click, a held Enter key, a line that loses answers. */
export function repeatedRequests(stage: Stage): void {
  const { open, post } = forms(stage);
  const block = 'edited/blocks/order';
  const orders = async () => Number((await stage.items('edited', 'count'))?.orders ?? 0);
  const records = async (name: string) => {
    const { json } = await stage.send<{ id: string; items: Form }[]>({ as: 'mona', send: 'GET edited/records' });
    return json.filter(({ items }) => items.name === name);
  };
  const send = (fields: Fields, changed: Form, accept?: string) =>
    post(block, formOf(fields, { ...changed, _save: '' }), accept);

  describe('a form that arrives twice', () => {
    test('is saved once while the first runs and afterwards, and each gets the first answer', async () => {
      const before = await orders();
      const fields = await open(block);
      const answers = await times(4, () => send(fields, { name: 'twice' }));
      answers.push(await send(fields, { name: 'twice' }));
      expect(answers.map(({ status }) => status)).toEqual([303, 303, 303, 303, 303]);
      expect(new Set(answers.map(({ headers }) => headers.location)).size).toBe(1);
      expect(await records('twice')).toHaveLength(1);
      expect((await orders()) - before).toBe(1);
      const json = await send(fields, { name: 'twice' }, 'application/json');
      expect([json.status, json.json]).toMatchObject([
        201,
        { id: (await records('twice'))[0]?.id, success: 'created' },
      ]);
    });

    test('is saved again where it was changed, and from a page that was loaded again', async () => {
      const fields = await open(block);
      await send(fields, { name: 'again' });
      await send(fields, { name: 'again', more: 'changed' });
      await send(await open(block), { name: 'again' });
      expect(await records('again')).toHaveLength(3);
    });

    test('is saved once whether a script sends its line ends or a browser', async () => {
      const fields = await open(block);
      for (const more of ['two\nlines', 'two\r\nlines']) await send(fields, { name: 'lines', more });
      expect(await records('lines')).toHaveLength(1);
    });

    test('is refused twice, or fails twice, and is then saved once', async () => {
      const fields = await open(block);
      const refused = await times(2, () => send(fields, { name: '' }));
      expect(refused.map(({ status }) => status)).toEqual([422, 422]);
      expect((await send(fields, { name: 'broken' })).status).toBe(500);
      await times(2, () => send(fieldsIn(refused[1]?.text ?? ''), { name: 'refused before' }));
      expect(await records('refused before')).toHaveLength(1);
    });

    test('changes and deletes a record once', async () => {
      await stage.keep('edited', 'changed', { block: 'person', name: 'Ann' });
      const path = 'edited/record/changed';
      const fields = await open(`${path}/edit`);
      const saved = await times(3, () => post(path, formOf(fields, { name: 'Anna', _save: '' })));
      expect(saved.map(({ status }) => status)).toEqual([303, 303, 303]);
      expect(await stage.items('edited', 'changed')).toMatchObject({ name: 'Anna', changes: 1 });
      const shown = await open(path);
      const deleted = await times(3, () => post(path, formOf(shown, { _delete: '' })));
      deleted.push(await post(path, formOf(shown, { _delete: '' })));
      expect(deleted.map(({ status, headers }) => [status, headers.location])).toEqual(
        Array(4).fill([303, expect.stringContaining('/@@apps/edited/blocks/person')]),
      );
    });

    test('is not shared by people: another one with the same fields saves another record', async () => {
      const fields = await open(block);
      const first = await send(fields, { name: 'people' });
      const second = await stage.send({
        as: 'anna',
        send: `POST ${block}`,
        accept: 'text/html',
        form: formOf(fields, { name: 'people', _save: '' }),
      });
      expect([first.status, second.status]).toEqual([303, 303]);
      expect(second.headers.location).not.toBe(first.headers.location);
      expect(await records('people')).toHaveLength(2);
    });

    test('is saved as often as it comes where only a header carries the token', async () => {
      const form = { name: 'header', _save: '' };
      for (const _ of [1, 2]) await stage.send({ send: `POST ${block}`, accept: 'text/html', form });
      expect(await records('header')).toHaveLength(2);
    });
  });

  describe('Idempotency-Key', () => {
    const key = (value: string) => ({ 'idempotency-key': value });
    const create = (value: string, json: object, as = 'anonymous', send = 'POST edited') =>
      stage.send<{ id: string }>({ as, send, json, headers: key(value) });

    test.each<[string, string, object | undefined]>([
      ['POST', 'edited', { block: 'order', name: 'key' }],
      ['PUT', 'edited/record/put', { name: 'put' }],
      ['PATCH', 'edited/record/put', { $inc: { n: 1 } }],
      ['POST', 'edited/record/put', { $inc: { n: 1 } }],
      ['POST', 'edited/records', [{ name: 'bulk' }, { name: 'bulk' }]],
      ['POST', 'edited/blocks/order', { name: 'json form', _save: '1' }],
      ['DELETE', 'edited/record/put', undefined],
    ])('%s %s is carried out once', async (method, path, json) => {
      const line = `${method} ${path}`;
      const ask = () =>
        stage.send({ as: 'mona', send: line, json, headers: key(`"once ${line}"`.replaceAll(' ', '-')) });
      const first = await ask();
      expect(first.status, first.text).toBeLessThan(300);
      const n = (await stage.items('edited', 'put'))?.n;
      const second = await ask();
      expect([second.status, second.text, second.headers.location]).toEqual([
        ...[first.status, first.text, first.headers.location],
      ]);
      expect((await stage.items('edited', 'put'))?.n).toBe(n);
    });

    test('stored each of them once', async () => {
      expect(await records('key')).toHaveLength(1);
      expect(await records('bulk')).toHaveLength(2);
      expect(await records('json form')).toHaveLength(1);
    });

    test('of another body is 422, of a request that runs 409, and of one that has failed free', async () => {
      expect((await create('other', { block: 'order', name: 'body' })).status).toBe(201);
      const other = await create('other', { block: 'order', name: 'another' });
      expect([other.status, other.json]).toMatchObject([422, { error: { name: 'ValidationError' } }]);
      const both = await times(2, () => create('running', { block: 'order', name: 'running' }));
      expect(both.map(({ status }) => status).sort()).toEqual([201, 409]);
      expect(both.find(({ status }) => status === 409)?.headers['retry-after']).toBe('1');
      expect((await create('failed', { block: 'order', name: '' })).status).toBe(422);
      expect((await create('failed', { block: 'order', name: 'now right' })).status).toBe(201);
      expect(await records('running')).toHaveLength(1);
    });

    test('is of one requester, one address and one app', async () => {
      const body = { block: 'order', name: 'own' };
      const ids = [
        (await create('own', body)).json.id,
        (await create('own', body, 'anna')).json.id,
        (await create('own', body, 'abel')).json.id,
        (await create('own', body, 'anna', 'PUT edited/record/own')).json.id,
      ];
      expect(new Set(ids).size).toBe(4);
      // Visitors without a login are told from each other by their tokens.
      const fresh = await stage.send({ send: 'GET edited' });
      const token = String(fresh.headers['x-csrf-token']);
      const another = await stage.send<{ id: string }>({
        send: 'POST edited',
        json: body,
        csrf: false,
        headers: { ...key('own'), 'x-csrf-token': token },
      });
      expect(ids).not.toContain(another.json.id);
    });

    test.each(['""', '"a b"', 'ä', 'x'.repeat(256)])('that is %s is 400', async (value) => {
      const answer = await create(Buffer.from(value).toString('latin1'), { name: 'bad' });
      expect([answer.status, answer.json]).toMatchObject([400, { error: { name: 'BadRequestError' } }]);
    });
  });
}
