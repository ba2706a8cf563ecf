import { describe, expect, test } from 'vitest';
import { html, type Stage } from '../../support/stage';
import type { Mails } from './mails';

/** How many mails an address and a network get. */
export function receiptLimits(stage: Stage, mails: Mails): void {
  const { ask, tokenIn, mailTo } = mails;
  const found = async () =>
    ((await ask('POST events/search', { as: 'eric', json: {} })).json as unknown as { id: string }[]).map(
      ({ id }) => id,
    );
  const send = (email: string) => ask('POST events', { json: { block: 'moved', email } });

  describe('limits', () => {
    test('five mails an hour for an address, and thirty for a network', async () => {
      for (let at = 0; at < 5; at += 1) expect((await send('bomb@example.org')).status).toBe(201);
      for (const spelling of ['bomb@example.org', 'BOMB@example.org', 'bomb@EXAMPLE.ORG']) {
        const sixth = await send(spelling);
        expect([sixth.status, sixth.headers['retry-after']]).toEqual([429, '3600']);
      }
      for (let at = 5; at < 30; at += 1) expect((await send(`n${at}@example.org`)).status).toBe(201);
      expect((await send('n30@example.org')).status).toBe(429);
      expect(await found()).toHaveLength(30);
      // A record without a confirmation is stored all the same.
      expect((await ask('POST events', { json: { block: 'plain', email: 'n31@example.org' } })).status).toBe(201);
      await expect.poll(async () => (await mails.all()).length).toBe(30);
      // An editor is trusted with addresses of others.
      expect(
        (await ask('POST events', { as: 'eric', json: { block: 'moved', email: 'n32@example.org' } })).status,
      ).toBe(201);
      await mails.laterBy(3_601);
      expect((await send('bomb@example.org')).status).toBe(201);
    });

    test('twenty at the same moment are no more than five', async () => {
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, at) =>
          ask('POST events', { json: { block: 'moved', name: `${at}`, email: 'race@example.org' } }),
        ),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([...Array(5).fill(201), ...Array(15).fill(429)]);
      await expect.poll(async () => (await mails.to('race@example.org')).length).toBe(5);
    });

    test('over the limit a form is shown again with what was entered, and its file', async () => {
      for (let at = 0; at < 5; at += 1) await send('full@example.org');
      const before = await found();
      const parts = mails.withFile({ name: 'Entered <x>', email: 'full@example.org' });
      const refused = await ask('POST events/blocks/again', { ...parts, accept: html });
      expect([refused.status, refused.headers['retry-after']]).toEqual([429, '3600']);
      expect(refused.text).toContain('Too many mails were asked for. Nothing was stored.');
      expect(refused.text).toContain('value="Entered &lt;x&gt;"');
      expect(refused.text).toContain('value="full@example.org"');
      expect(await found()).toEqual(before);
      // The file is kept: the form that is shown is sent again, with another address.
      const kept = /name="cv" type="checkbox" value="(kept:[^"]+)" checked/.exec(refused.text)?.[1] ?? '';
      const fields = { name: 'Entered', email: 'free@example.org', cv: kept, _save: '' };
      expect((await ask('POST events/blocks/again', { form: fields, accept: html })).status).toBe(303);
      const [id] = (await found()).filter((one) => !before.includes(one));
      expect(await stage.items('events', String(id))).toMatchObject({ name: 'Entered', cv: { name: 'a.pdf' } });
      const json = await ask('POST events/blocks/again', { json: { email: 'full@example.org', _save: '1' } });
      expect([json.status, json.json]).toMatchObject([429, { error: { name: 'RateLimitError' } }]);
    });

    test('mails that are not needed leave the room of those that are', async () => {
      const draft = (email: string) =>
        ask('POST events/blocks/again', { json: { name: 'x', _draft_email: email, _draft: '1' } });
      for (let at = 0; at < 5; at += 1) expect((await draft('lure@example.org')).json).toMatchObject({ mailed: true });
      // They have a limit of their own, which receipts without a confirmation share.
      expect((await draft('lure@example.org')).json).toMatchObject({ mailed: false });
      expect((await ask('POST events', { json: { block: 'plain', email: 'lure@example.org' } })).status).toBe(201);
      await expect.poll(() => mails.to('lure@example.org')).toHaveLength(5);
      for (let at = 0; at < 5; at += 1) expect((await send('lure@example.org')).status).toBe(201);
      expect((await send('lure@example.org')).status).toBe(429);
      await expect.poll(() => mails.to('lure@example.org')).toHaveLength(10);
      // And the other way round.
      for (let at = 0; at < 5; at += 1) await send('busy@example.org');
      const token = tokenIn(await mailTo('busy@example.org'));
      expect((await ask(`POST events/confirm/${token}`, { json: {} })).status).toBe(200);
      await expect.poll(() => mails.to('busy@example.org')).toHaveLength(6);
    });
  });
}
