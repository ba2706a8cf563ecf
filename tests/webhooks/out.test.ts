import { describe, expect, test } from 'vitest';
import { timeForMore } from '../support/time';
import { secret, useDesk } from './out/desk';
import { failures } from './out/failures';
import { strapi } from './out/strapi';
import { ways } from './out/ways';
import { type Delivery, verified } from './receiver';

const desk = useDesk();
const { arrived, create, jobs, receiver, stage } = desk;

describe('a delivery', () => {
  test('says what has happened, and is signed', async () => {
    const id = await create({ title: 'Lamp', priority: 3, block: 'ticket' });
    const [delivery] = (await arrived('/created', 1)) as [Delivery];
    expect(delivery.headers['content-type']).toBe('application/json');
    const [stored] = await jobs('created');
    expect(delivery.headers['webhook-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(stored).toMatchObject({ state: 'done', status: 204 });
    verified(secret, delivery);
    expect(() => verified(secret, { ...delivery, text: `${delivery.text} ` })).toThrow();
    const path = `${stage.host.url}/site/@@apps/desk/record/${id}`;
    const items = { title: 'Lamp', priority: 3, block: 'ticket', id };
    const { timestamp, ...rest } = delivery.json;
    expect(rest).toEqual({
      type: 'apps.record.create',
      data: { site: 'site', app: 'desk', block: 'ticket', id, path, items },
    });
    expect(Math.abs(Date.parse(timestamp ?? '') - Date.now())).toBeLessThan(60_000);
  });

  test('of each change of a record comes in their order', async () => {
    await create({ title: 'Chair' }, 'chair');
    await stage.send({ as: 'mona', send: 'PATCH desk/record/chair', json: { title: 'Armchair' } });
    await stage.send({ as: 'mona', send: 'PATCH desk/record/chair', json: { title: 'Sofa' } });
    await stage.send({ as: 'mona', send: 'DELETE desk/record/chair' });
    const all = await arrived('/all', 4);
    expect(all.map(({ json }) => [json.type, json.data?.items.title])).toEqual([
      ['apps.record.create', 'Chair'],
      ['apps.record.update', 'Armchair'],
      ['apps.record.update', 'Sofa'],
      ['apps.record.delete', 'Sofa'],
    ]);
    for (const one of all) verified(secret, one);
  });

  test('is only about records of the block that match the query', async () => {
    await create({ title: 'a', priority: 1, block: 'ticket' }, 'a');
    await create({ title: 'b', priority: 5 }, 'b');
    await create({ title: 'c', priority: 5, block: 'ticket' }, 'c');
    // As it is after a change, and before a deletion.
    await stage.send({ as: 'mona', send: 'PATCH desk/record/a', json: { priority: 4 } });
    await stage.send({ as: 'mona', send: 'PATCH desk/record/c', json: { priority: 2 } });
    await stage.send({ as: 'mona', send: 'DELETE desk/record/c' });
    await stage.send({ as: 'mona', send: 'DELETE desk/record/a' });
    await arrived('/all', 7);
    await timeForMore();
    expect(receiver.at('/urgent').map(({ json }) => [json.type, json.data?.id])).toEqual([
      ['apps.record.create', 'c'],
      ['apps.record.update', 'a'],
      ['apps.record.delete', 'a'],
    ]);
  });

  test('has the body that a function makes of the change; without a secret it is not signed', async () => {
    await create({ title: 'quiet' });
    const id = await create({ title: 'loud' });
    const [delivery] = (await arrived('/message', 1)) as [Delivery];
    expect(delivery.json).toMatchObject({
      text: 'create loud',
      params: {
        webhook: 'message',
        event: 'create',
        type: 'apps.record.create',
        data: { id, items: { title: 'loud' } },
      },
    });
    expect(delivery.headers).not.toHaveProperty('webhook-signature');
    await timeForMore();
    expect(receiver.at('/message')).toHaveLength(1);
  });

  test('has a body by a function that sees all of its app, and of others what anonymous visitors see', async () => {
    await create({ title: 'hidden' }, 'hidden');
    await stage.keep('vault', 'secret', { text: 'for editors' });
    await create({ title: 'spies' });
    const [delivery] = (await arrived('/spies', 1)) as [Delivery];
    expect(delivery.json).toEqual({ own: 'hidden', other: 'UnauthorizedError' });
  });

  test('comes once for all that one request does to a record', async () => {
    await stage.send({ as: 'mona', send: 'POST desk/blocks/ticket/twice', json: {} });
    await arrived('/all', 1);
    await timeForMore();
    expect(receiver.at('/all').map(({ json }) => [json.type, json.data?.items.title])).toEqual([
      ['apps.record.create', 'second'],
    ]);
  });

  test('is sent as it is stored: no secret is put into what visitors have entered', async () => {
    await create({ title: '{{secret:chat}}' });
    const [delivery] = (await arrived('/created', 1)) as [Delivery];
    expect(delivery.json.data?.items.title).toBe('{{secret:chat}}');
    verified(secret, delivery);
  });
});

ways(desk);
failures(desk);
strapi(desk);

test('settings show webhooks to managers alone', async () => {
  expect((await stage.send({ send: 'GET desk' })).text).not.toContain('webhooks');
  expect((await stage.send({ as: 'mona', send: 'GET desk' })).text).toContain('/urgent');
});
