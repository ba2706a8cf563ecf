import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { html, type RowRequest, type Stage } from '../../support/stage';
import type { Mails } from './mails';

/** A token with another character at a position. */
const swap = (token: string, at: number) => token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1);

/** Attacks on the links of receipts: none confirms a record, none sends a mail. */
export function refusedConfirmations(stage: Stage, { ask, make, mailTo, tokenIn, all, forget }: Mails): void {
  describe('attacks', () => {
    const good = { id: '', token: '', own: '', out: '' };
    const other = { token: '' };

    const prepare = async () => {
      await forget();
      await ask('DELETE other/records', { as: 'mona' });
      const { id, link } = await make('join', { name: 'good', email: 'good@example.org' });
      const mail = await mailTo('good@example.org');
      good.id = id;
      good.token = tokenIn(mail);
      good.own = /mine\/([\w-]{65})/.exec(link)?.[1] ?? '';
      good.out = /unsubscribe\/([\w-]{86})/.exec(mail.text ?? '')?.[1] ?? '';
      await make('join', { name: 'other', email: 'other@example.org' }, 'other');
      other.token = tokenIn(await mailTo('other@example.org'));
    };

    type Attack = [title: string, request: () => [send: string, more?: Partial<RowRequest>], status: number];
    const post = (token: string, more: Partial<RowRequest> = { json: {} }): [string, Partial<RowRequest>] => [
      `POST events/confirm/${token}`,
      more,
    ];
    const attacks: Attack[] = [
      ['a scanner that opens the link', () => [`GET events/confirm/${good.token}`, { accept: html }], 200],
      ['a scanner that asks for the head', () => [`HEAD events/confirm/${good.token}`, { accept: html }], 200],
      ['a scanner that asks for the methods', () => [`OPTIONS events/confirm/${good.token}`], 204],
      ['a GET with the button in its query', () => [`GET events/confirm/${good.token}?confirm=yes&_save=1`], 200],
      ['PUT', () => [`PUT events/confirm/${good.token}`, { json: {} }], 405],
      ['PATCH', () => [`PATCH events/confirm/${good.token}`, { json: { _state: null } }], 405],
      ['another first character', () => post(swap(good.token, 0)), 404],
      ['another character of the signature', () => post(swap(good.token, 40)), 404],
      ['a last character with other loose bits', () => post(swap(good.token, 64)), 404],
      ['a token without its signature', () => post(good.token.slice(0, 22)), 404],
      ['the token twice', () => post(good.token + good.token), 404],
      ['the token of the own link', () => post(good.own), 404],
      ['the token as that of the own link', () => [`GET events/mine/${good.token}`], 404],
      ['the token of another app', () => post(other.token), 404],
      ['the token in another app', () => [`POST other/confirm/${good.token}`, { json: {} }], 404],
      ['the id of the record', () => post(good.id), 404],
      ['a null character', () => post(`${good.token}%00`), 404],
      [
        'a form of another page',
        () =>
          post(good.token, {
            accept: html,
            form: {},
            csrf: false,
            headers: {
              origin: 'https://evil.example.org',
              'sec-fetch-site': 'cross-site',
              'sec-fetch-mode': 'navigate',
            },
          }),
        403,
      ],
      ['the state by JSON', () => [`PATCH events/mine/${good.own}`, { json: { _state: null } }], 422],
      ['the place by JSON', () => [`PATCH events/mine/${good.own}`, { json: { _held: false } }], 422],
      [
        'a record that says it is confirmed',
        () => ['POST events', { json: { block: 'join', email: 'c@example.org', _state: 'confirmed' } }],
        422,
      ],
      ['a record that says it is hidden', () => ['POST events', { json: { name: 'x', _state: 'unconfirmed' } }], 422],
      [
        'the state by a form',
        () => ['POST events/blocks/join', { json: { email: 'c@example.org', _state: 'x', _save: '1' } }],
        422,
      ],
      ['the state by logic', () => [`POST events/blocks/look/mark?id=${good.id}`, { as: 'eric', json: {} }], 422],
      [
        'a header in the address',
        () => ['POST events', { json: { block: 'join', email: 'c@example.org\r\nBcc: all@example.org' } }],
        422,
      ],
      ['two addresses', () => ['POST events', { json: { block: 'join', email: 'c@example.org, d@example.org' } }], 422],
      [
        'a name before the address',
        () => ['POST events', { json: { block: 'join', email: '"x" <c@example.org>' } }],
        422,
      ],
      [
        'a token of a refusal that is forged',
        () => [`POST events/unsubscribe/${swap(good.out, 50)}`, { json: {} }],
        404,
      ],
      [
        'the address of another refusal under one signature',
        () => [`POST events/unsubscribe/${swap(good.out, 5)}`, { json: {} }],
        404,
      ],
      ['a link to a record as a refusal', () => [`POST events/unsubscribe/${good.token}`, { json: {} }], 404],
    ];

    describe('on one record, which none of them changes', () => {
      beforeAll(prepare);

      test.each(attacks)('%s', async (_title, request, status) => {
        const before = (await all()).length;
        const [send, more] = request();
        const answer = await ask(send, more);
        expect([answer.status, answer.text.slice(0, 300)]).toEqual([status, expect.anything()]);
        expect(await stage.items('events', good.id)).toMatchObject({ _state: 'unconfirmed', name: 'good' });
        expect((await ask(`GET events/unsubscribe/${good.out}`)).json).toEqual({ refused: false });
        expect(await all()).toHaveLength(before);
      });
    });

    describe('on a record of their own', () => {
      beforeEach(prepare);

      test('a link that was ended confirms nothing', async () => {
        expect((await ask(`POST events/confirm/${good.token}`, { json: {} })).status).toBe(200);
        expect((await ask(`DELETE events/confirm/${good.token}`)).json).toEqual({ success: 'revoked' });
        expect((await ask(`POST events/confirm/${good.token}`, { json: {} })).status).toBe(404);
        expect((await ask(`GET events/confirm/${good.token}`, { accept: html })).status).toBe(404);
        expect((await stage.items('events', good.id))?.name).toBe('good');
      });

      test('a link does not confirm a later record with the same id', async () => {
        await ask('PUT events/record/again', { json: { block: 'join', email: 'again@example.org' } });
        const token = tokenIn(await mailTo('again@example.org'));
        await ask('DELETE events/record/again', { as: 'eric' });
        await ask('PUT events/record/again', { json: { block: 'join', email: 'next@example.org' } });
        expect((await ask(`POST events/confirm/${token}`, { json: {} })).status).toBe(404);
        expect((await stage.items('events', 'again'))?._state).toBe('unconfirmed');
      });

      test('what was entered adds no header and no line to the mails', async () => {
        const name = 'x\r\nBcc: all@example.org\u2028END:VEVENT';
        await make('join', { name, email: 'inject@example.org', day: '2999-01-01T10:00' });
        await ask(`POST events/confirm/${tokenIn(await mailTo('inject@example.org'))}`, { json: {} });
        await expect.poll(async () => (await all()).filter(({ to }) => to === 'inject@example.org')).toHaveLength(2);
        for (const mail of await all()) {
          expect(mail.subject).not.toMatch(/[\r\n\u2028]/);
          for (const { content } of mail.attachments ?? []) expect(content.split(/\r\nEND:VEVENT/)).toHaveLength(2);
        }
      });
    });
  });
}
