import { describe, expect, test } from 'vitest';
import type { RunAgain, RunsPage } from '../../../plugins/apps/shared/admin-api';
import { expectAnswer } from '../../support/table';
import { type Receiver, verified } from '../receiver';
import { type Desk, secret } from './desk';

export function failures({ arrived, create, jobs, receiver, stage, whileBroken }: Desk): void {
  describe('a receiver that fails', () => {
    test('gets the same webhook again, with its id, until it answers well', async () => {
      receiver.answers(
        '/fails',
        { status: 500, text: `down ${secret}` },
        { status: 429 },
        (response) => void response.destroy(),
      );
      await create({ title: 'fails' });
      const tries = await arrived('/fails', 4);
      expect(new Set(tries.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
      expect(new Set(tries.map(({ text }) => text)).size).toBe(1);
      for (const one of tries) verified(secret, one);
      await expect.poll(async () => (await jobs('fails'))[0]?.state).toBe('done');
      expect(await stage.host.printed()).not.toContain(secret.slice(6));
    });

    test('is given up after its tries, with the status and the answer', async () => {
      const text = `<b>${'x'.repeat(3_000)}`;
      receiver.answers('/fails', ...Array.from({ length: 5 }, () => ({ status: 503, text })));
      await create({ title: 'fails' });
      await expect.poll(async () => (await jobs('fails'))[0]?.state, { timeout: 40_000 }).toBe('dead');
      const [job] = await jobs('fails');
      expect(job).toMatchObject({ status: 503, answer: text.slice(0, 1_000), attempts: 5 });
      expect(job?.error).toContain('has answered 503');
    }, 60_000);

    test.each<[string, Parameters<Receiver['answers']>[1], RegExp]>([
      ['hangs', () => undefined, /GatewayTimeoutError/],
      ['answers without end', (response) => endless(response), /Error/],
      ['redirects', { status: 307, headers: { location: '/created' } }, /has answered 307/],
      ['breaks off', (response) => void response.socket?.destroy(), /BadGatewayError/],
    ])('is called again when it %s', async (_, reply, reason) => {
      receiver.answers('/fails', reply);
      await create({ title: 'fails' });
      await expect.poll(async () => (await jobs('fails'))[0]?.error ?? '', { timeout: 10_000 }).toMatch(reason);
      await arrived('/fails', 2);
      await expect.poll(async () => (await jobs('fails'))[0]?.state).toBe('done');
      expect(receiver.at('/created').map(({ json }) => json.data?.items.title)).toEqual(['fails']);
    });

    test('is not called again when it is gone', async () => {
      receiver.answers('/fails', { status: 410, text: 'gone' });
      await create({ title: 'fails' });
      await expect.poll(async () => (await jobs('fails'))[0]?.state).toBe('dead');
      expect((await jobs('fails'))[0]).toMatchObject({ status: 410, answer: 'gone', attempts: 1 });
    });

    test('does not hold up other webhooks, and not the request', async () => {
      receiver.answers('/fails', () => undefined);
      await create({ title: 'fails' });
      await arrived('/created', 1);
      await create({ title: 'other' });
      await arrived('/created', 2);
    });
  });

  describe('a webhook of which nothing is known while a file is broken', () => {
    /** Has the job of the latest bulk creation done again, now. */
    const again = () =>
      stage.host.run(async (strapi) => {
        const rows = () => strapi.db.connection('apps_jobs').where({ kind: 'webhook', name: 'bulk' });
        const { id } = await rows().where('data', 'like', '%"ranges"%').orderBy('id', 'desc').first();
        await rows().where({ id }).update({ state: 'waiting', due_at: 0, ended_at: null });
      });
    const bulk = async () => (await jobs('bulk')).filter(({ data }) => data.includes('"ranges"'))[0];

    test('gets the records of a bulk creation afterwards', async () => {
      await stage.send({ as: 'mona', send: 'POST breaks/records', json: [{ n: 1 }, { n: 2 }] });
      await arrived('/bulk', 2);
      await whileBroken('settings', async () => {
        await again();
        await expect.poll(async () => (await bulk())?.error ?? '', { timeout: 20_000 }).toContain('settings.yaml');
        expect((await bulk())?.state).toBe('waiting');
      });
      await again();
      expect((await arrived('/bulk', 4)).map(({ json }) => json.n).sort()).toEqual([1, 1, 2, 2]);
    });

    test.each([
      ['deleted', 'DELETE breaks/record/note', {}],
      ['deleted with all others', 'DELETE breaks/records', {}],
      ['changed', 'PATCH breaks/record/note', { json: { title: 'Two' } }],
    ])('misses no change: its record is not %s', async (_, send, body) => {
      await stage.send({ as: 'mona', send: 'DELETE breaks/records' });
      await stage.put('breaks', 'note', { block: 'note', title: 'One', priority: 3 });
      await whileBroken('blocks/ticket', async () => {
        const refused = { status: 500, error: 'DefinitionError', has: ['blocks/ticket.yaml'] };
        expectAnswer(await stage.send({ as: 'mona', send, ...body }), refused);
        expect(await stage.items('breaks', 'note')).toMatchObject({ title: 'One' });
        // Not of its block.
        await stage.put('breaks', 'other', { priority: 3 });
        expectAnswer(await stage.send({ as: 'mona', send: 'DELETE breaks/record/other' }), { status: 200 });
      });
      receiver.clear();
      expectAnswer(await stage.send({ as: 'mona', send, ...body }), { status: 200 });
      await arrived('/due', 1);
    });
  });

  describe('a webhook that cannot be sent', () => {
    test('to a host that the configuration does not name, says so', async () => {
      await create({ title: 'elsewhere' });
      await expect.poll(async () => (await jobs('elsewhere'))[0]?.state).toBe('dead');
      const [job] = await jobs('elsewhere');
      expect(job?.error).toContain('fetch.hosts.desk');
      expect(job?.attempts).toBe(1);
    });

    test('without its secret, waits and says so', async () => {
      await create({ title: 'unsigned' });
      await expect.poll(async () => (await jobs('unsigned'))[0]?.error ?? '').toContain('fetch.secrets.missing.value');
      expect(receiver.at('/unsigned')).toEqual([]);
    });

    test('because its function writes, writes nothing', async () => {
      await create({ title: 'writes' });
      await expect.poll(async () => (await jobs('writes'))[0]?.error ?? '').toContain('CsrfError');
      const { json } = await stage.send<{ items: { title?: string } }[]>({ as: 'mona', send: 'GET desk/records' });
      expect(json.filter(({ items }) => items.title === 'written')).toEqual([]);
    });

    test('because its function fails, runs again in the panel with the same rights', async () => {
      await create({ title: 'broken' });
      const reason = 'in the vault: UnauthorizedError';
      await expect.poll(async () => (await jobs('spies'))[0]?.error ?? '').toContain(reason);
      const { json } = await stage.send<RunsPage>({
        as: 'root',
        send: 'GET /apps/runs?app=desk&block=inner&state=failed',
      });
      const send = `POST /apps/runs/${json.runs[0]?.id}/again`;
      const again = await stage.send<RunAgain>({ as: 'root', send });
      expect(again.json).toMatchObject({ status: 500, answer: expect.stringContaining(reason) });
    });
  });
}

/** Sends an answer that has no end. */
function endless(response: import('node:http').ServerResponse): void {
  response.writeHead(200);
  const more = () => {
    if (response.destroyed) return;
    response.write('x'.repeat(10_000));
    setTimeout(more, 5);
  };
  more();
}
