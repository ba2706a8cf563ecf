import { describe, expect, test } from 'vitest';
import type { Stage } from '../../support/stage';

/** Two clients that change one record. */
export function versionsOfARecord(stage: Stage): void {
  describe('versions of a record', () => {
    test('an ETag guards changes by If-Match and answers If-None-Match', async () => {
      await stage.put('open', 'tagged', { n: 1 });
      const first = await stage.send({ send: 'GET open/record/tagged' });
      const etag = String(first.headers.etag);
      const change = (tag: string) =>
        stage.send({ send: 'PATCH open/record/tagged', json: { n: 2 }, headers: { 'if-match': tag } });
      const remove = (tag: string) => stage.send({ send: 'DELETE open/record/tagged', headers: { 'if-match': tag } });
      expect((await stage.send({ send: 'GET open/record/tagged', headers: { 'if-none-match': etag } })).status).toBe(
        304,
      );
      expect((await change('"other"')).status).toBe(412);
      expect((await change(etag)).status).toBe(200);
      const second = await stage.send({ send: 'GET open/record/tagged' });
      expect(second.headers.etag).not.toBe(etag);
      expect((await change(etag)).json).toMatchObject({ error: { status: 412, name: 'PreconditionFailedError' } });
      expect((await remove(etag)).status).toBe(412);
      expect((await remove(String(second.headers.etag))).status).toBe(200);
    });

    test('an etag never repeats for other content under the same id', async () => {
      await stage.put('open', 'again', { n: 1 });
      const first = await stage.send({ send: 'GET open/record/again' });
      await stage.send({ send: 'DELETE open/record/again' });
      await stage.put('open', 'again', { n: 2 });
      const second = await stage.send({
        send: 'GET open/record/again',
        headers: { 'if-none-match': String(first.headers.etag) },
      });
      expect(second.status).toBe(200);
      expect(second.json).toEqual({ n: 2, id: 'again' });
    });

    test('50 concurrent $inc count 50', async () => {
      await stage.put('open', 'sum');
      const one = () => stage.send({ send: 'PATCH open/record/sum', json: { $inc: { total: 1 } } });
      const answers = await Promise.all(Array.from({ length: 50 }, one));
      expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200));
      expect(await stage.items('open', 'sum')).toEqual({ total: 50, id: 'sum' });
    });

    test('50 concurrent creations of one id make one', async () => {
      const one = (_: unknown, n: number) => stage.send({ send: 'PUT open/record/race', json: { n } });
      const answers = await Promise.all(Array.from({ length: 50 }, one));
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 409)).toHaveLength(49);
    });
  });
}
