import { describe, expect, test } from 'vitest';
import type { Desk } from './desk';

export function strapi({ arrived, create, receiver, stage }: Desk): void {
  describe("Strapi's own webhooks", () => {
    const events = ['apps.record.create', 'apps.record.update', 'apps.record.delete'];

    test('have the events of records', async () => {
      const json = { name: 'records', url: receiver.url('/strapi'), headers: {}, events };
      const made = await stage.send({ as: 'root', send: 'POST /admin/webhooks', json });
      expect(made.status, made.text).toBe(201);
      const wrong = { ...json, events: ['apps.record.read'] };
      expect((await stage.send({ as: 'root', send: 'POST /admin/webhooks', json: wrong })).status).toBe(400);
      await create({ title: 'Bed' }, 'bed');
      await stage.send({ as: 'mona', send: 'PATCH desk/record/bed', json: { title: 'Cot' } });
      await stage.send({ as: 'mona', send: 'DELETE desk/record/bed' });
      const all = await arrived('/strapi', 3);
      expect(all.map(({ json }) => [json.event, json.id, (json.items as { title: string }).title])).toEqual([
        ['apps.record.create', 'bed', 'Bed'],
        ['apps.record.update', 'bed', 'Cot'],
        ['apps.record.delete', 'bed', 'Cot'],
      ]);
      const bulk = Array.from({ length: 3 }, (_, n) => ({ title: 'bulk', n }));
      await stage.send({ as: 'mona', send: 'POST desk/records', json: bulk });
      await arrived('/strapi', 6);
      const { json: stored } = await stage.send<object[]>({ as: 'mona', send: 'GET desk/records' });
      await stage.send({ as: 'mona', send: 'DELETE desk/records' });
      const deleted = (await arrived('/strapi', 6 + stored.length)).filter(({ json }) => json.event === events[2]);
      expect(deleted).toHaveLength(1 + stored.length);
    });

    test('get nothing of what is rolled back', async () => {
      await stage.send({ as: 'mona', send: 'POST desk/blocks/ticket/rolled_back', json: {} });
      await create({ title: 'after it' });
      const [first] = await arrived('/strapi', 1);
      expect(first?.json.items).toMatchObject({ title: 'after it' });
    });
  });
}
