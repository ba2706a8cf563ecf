import { describe, expect, test } from 'vitest';
import { hiddenField } from '../../support/login';
import { timeForMore } from '../../support/time';
import type { Desk } from './desk';

export function ways({ arrived, create, receiver, stage }: Desk): void {
  describe('each way in', () => {
    const titles = (path: string) => receiver.at(path).map(({ json }) => json.data?.items.title);

    test('a form', async () => {
      const page = await stage.send({ send: 'GET desk/blocks/ticket', accept: 'text/html' });
      await new Promise((resolve) => setTimeout(resolve, 1_100));
      const form = {
        title: 'by a form',
        priority: '1',
        _save: '1',
        _csrf: hiddenField(page.text, '_csrf'),
        _shown: hiddenField(page.text, '_shown'),
      };
      const answer = await stage.send({ send: 'POST desk/blocks/ticket', form, accept: 'text/html', csrf: false });
      expect(answer.status, answer.text).toBe(303);
      await arrived('/created', 1);
      expect(titles('/created')).toEqual(['by a form']);
    });

    test.each([
      ['an array', { json: Array.from({ length: 3 }, (_, n) => ({ title: 'bulk', n })) }, 3],
      ['with blocks', { json: Array.from({ length: 3 }, (_, n) => ({ title: 'bulk', n, block: 'ticket' })) }, 3],
      ['NDJSON', { body: lines(230), headers: { 'content-type': 'application/x-ndjson' } }, 230],
      ['NDJSON with blocks', { body: lines(60, 'ticket'), headers: { 'content-type': 'application/x-ndjson' } }, 60],
    ])('a bulk creation: %s', async (_, body, count) => {
      const answer = await stage.send({ as: 'mona', send: 'POST desk/records', ...body });
      expect(answer.status, answer.text).toBe(201);
      const all = await arrived('/created', count);
      expect(all.map(({ json }) => json.data?.items.n).sort((a, b) => Number(a) - Number(b))).toEqual(
        Array.from({ length: count }, (_, n) => n),
      );
      expect(new Set(all.map(({ headers }) => headers['webhook-id'])).size).toBe(count);
    });

    test('a bulk creation of records that are too large to be read together', async () => {
      const text = 'x'.repeat(900_000);
      const body = Array.from({ length: 20 }, (_, n) => JSON.stringify({ n, text })).join('\n');
      const headers = { 'content-type': 'application/x-ndjson' };
      const answer = await stage.send({ as: 'mona', send: 'POST breaks/records', body, headers });
      expect(answer.status, answer.text).toBe(201);
      const all = await arrived('/bulk', 20);
      expect(all.map(({ json }) => Number(json.n)).sort((a, b) => a - b)).toEqual(
        Array.from({ length: 20 }, (_, n) => n),
      );
    });

    test('logic, many records at once', async () => {
      await stage.send({ as: 'mona', send: 'POST desk/blocks/ticket/many', json: { count: 70 } });
      await arrived('/created', 70);
      await timeForMore();
      expect(receiver.at('/created')).toHaveLength(70);
    });

    test('a job', async () => {
      const answer = await stage.send({ as: 'mona', send: 'POST desk/blocks/ticket/later', json: {} });
      expect(answer.status, answer.text).toBe(200);
      await arrived('/created', 1);
      expect(titles('/created')).toEqual(['by a job']);
    });

    test('the panel', async () => {
      const panel = '/apps/sites/site/apps/desk';
      const json = { id: 'panel', items: { title: 'by the panel' } };
      const made = await stage.send({ as: 'root', send: `POST ${panel}/record`, json });
      expect(made.status, made.text).toBe(201);
      const read = await stage.send<{ version: string }>({ as: 'root', send: `GET ${panel}/record?id=panel` });
      const change = { items: { title: 'changed' }, version: read.json.version };
      await stage.send({ as: 'root', send: `PUT ${panel}/record?id=panel`, json: change });
      await stage.send({ as: 'root', send: `POST ${panel}/records/delete`, json: { ids: ['panel'] } });
      const all = await arrived('/all', 3);
      expect(all.map(({ json }) => json.type?.slice('apps.record.'.length))).toEqual(['create', 'update', 'delete']);
    });

    test('an import in the panel', async () => {
      const options = JSON.stringify({ name: 'x.csv', mapping: {} });
      const part = (name: string, text: string) => `--b\r\nContent-Disposition: form-data; ${name}\r\n\r\n${text}\r\n`;
      const answer = await stage.send({
        as: 'root',
        send: 'POST /apps/sites/site/apps/desk/records/import',
        headers: { 'content-type': 'multipart/form-data; boundary=b' },
        body: `${part('name="options"', options)}${part('name="files"; filename="x"\r\nContent-Type: text/csv', 'title\nimported\nimported')}--b--\r\n`,
      });
      expect(answer.status, answer.text).toBe(202);
      await arrived('/created', 2);
      expect(titles('/created')).toEqual(['imported', 'imported']);
    });

    test('code of the host', async () => {
      await stage.host.run((strapi) =>
        strapi
          .plugin('apps')
          .service('apps')
          .call('desk/ticket/make', { params: { title: 'by code' } }),
      );
      await arrived('/created', 1);
      expect(titles('/created')).toEqual(['by code']);
    });

    test('the deletion of all records', async () => {
      await create({ title: 'x' });
      const { json } = await stage.send<object[]>({ as: 'mona', send: 'GET desk/records' });
      await arrived('/created', 1);
      receiver.clear();
      expect((await stage.send({ as: 'mona', send: 'DELETE desk/records' })).status).toBe(200);
      const deleted = await arrived('/all', json.length);
      expect(deleted.every(({ json }) => json.type === 'apps.record.delete')).toBe(true);
      expect(deleted).toHaveLength(json.length);
    });

    test('not what was rolled back', async () => {
      const answer = await stage.send({ as: 'mona', send: 'POST desk/blocks/ticket/rolled_back', json: {} });
      expect(answer.status).toBe(500);
      const taken = await stage.send({ as: 'mona', send: 'POST desk/records', json: [{ id: 'p' }, { id: 'p' }] });
      expect(taken.status).toBe(409);
      await create({ title: 'after it' });
      await arrived('/created', 1);
      await timeForMore();
      expect(titles('/created')).toEqual(['after it']);
    });
  });
}

function lines(count: number, block?: string): string {
  return Array.from({ length: count }, (_, n) => JSON.stringify({ title: 'bulk', n, ...(block && { block }) })).join(
    '\n',
  );
}
