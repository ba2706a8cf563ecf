import { beforeAll, describe, expect, test } from 'vitest';
import { html, type Stage } from '../../support/stage';
import { DRAFTS, type draftTools, type Sent } from './apps';

/** Attacks on the links of drafts, and on what drafts may fill. */
export function attacks(stage: Stage, tools: ReturnType<typeof draftTools>, file: Buffer): void {
  const { ask, form, parts, save, page, read, rows, tokenOf } = tools;

  describe('attacks', () => {
    let good = '';
    let second = '';
    let foreign = '';
    let revoked = '';
    let sent = '';
    let mine = '';
    const tail = 'A'.repeat(43);

    beforeAll(async () => {
      good = await save('kept/blocks/apply', { name: 'good', mail: 'good@example.org' });
      second = await save('kept/blocks/apply', { name: 'second' });
      foreign = await save('foreign/blocks/apply', { name: 'foreign' });
      revoked = await save('kept/blocks/apply', { name: 'revoked' });
      await ask(`DELETE kept/draft/${revoked}`);
      sent = await save('kept/blocks/apply', { name: 'sent' });
      await form(`kept/draft/${sent}`, { name: 'sent', _save: '1' });
      // A link to a record, as `self_service` makes it, with the id of a draft.
      mine = await stage.host.run(
        (strapi, id) => {
          const key = strapi.config.get('server.app.keys') as string | string[];
          const { createHmac } = require('node:crypto') as typeof import('node:crypto');
          const parts = JSON.stringify(['link', 'mine', 'site', 'kept', id]);
          return (
            id +
            createHmac('sha256', [key].flat()[0] as string)
              .update(parts)
              .digest('base64url')
          );
        },
        good.slice(0, 22),
      );
    });

    const ended: [title: string, token: () => string][] = [
      ['a draft that was deleted', () => revoked],
      ['a draft whose form was sent', () => sent],
    ];
    const tokens: [title: string, token: () => string][] = [
      ['the id of a draft without its signature', () => good.slice(0, 22)],
      ['the id of a draft with another signature', () => good.slice(0, 22) + tail],
      ['the id of a draft with the signature of another', () => good.slice(0, 22) + second.slice(22)],
      ['a right signature of another purpose', () => mine],
      ['a token that is too long', () => `${good}A`],
      ['the token of a draft of another app', () => foreign],
      ['a made-up token', () => 'x'.repeat(65)],
      ['a wildcard of SQL', () => `${'_'.repeat(22)}${tail}`],
      ['the name of a table', () => 'apps_drafts'],
      ['a very long token', () => 'x'.repeat(5_000)],
    ];
    const requests: [title: string, method: string, more: Sent][] = [
      ['GET', 'GET', {}],
      ['a page', 'GET', { accept: html }],
      ['DELETE', 'DELETE', {}],
      ['a form', 'POST', { accept: html, form: { name: 'stolen', _save: '' } }],
      ['a draft', 'POST', { accept: html, form: { name: 'stolen', _draft: '' } }],
      ['the button', 'POST', { accept: html, form: { _revoke: 'yes' } }],
    ];

    test.each(tokens)('%s leads nowhere', async (_, token) => {
      const texts = new Set<string>();
      for (const [title, method, more] of requests) {
        const answer = await ask(`${method} kept/draft/${token()}`, more);
        expect([title, answer.status]).toEqual([title, 404]);
        if (title === 'GET') texts.add(String((answer.json.error as { message: string }).message));
      }
      expect([...texts]).toEqual(['There is nothing at this address']);
    });

    test.each(ended)('%s is not shown', async (_, token) => {
      for (const [title, method, more] of requests.filter(([title]) => !['a form', 'a draft'].includes(title)))
        expect([title, (await ask(`${method} kept/draft/${token()}`, more)).status]).toEqual([title, 404]);
    });

    const foreignOrigin = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    const strange: [title: string, request: () => [send: string, more?: Sent], status: number][] = [
      ['the token of a draft as that of a record', () => [`GET kept/mine/${good}`], 404],
      ['the token of a draft in another app', () => [`GET foreign/draft/${good}`], 404],
      ['the token in another site', () => [`GET /intranet/@@apps/kept/draft/${good}`], 404],
      ['no token', () => ['GET kept/draft'], 404],
      ['a line break in the token', () => [`GET kept/draft/${good}%0D%0ASet-Cookie:a=b`], 404],
      ['PATCH', () => [`PATCH kept/draft/${good}`, { json: { name: 'x' } }], 405],
      [
        'a form without a token',
        () => [`POST kept/draft/${good}`, { accept: html, csrf: false, form: { name: 'x', _save: '' } }],
        403,
      ],
      [
        'a draft without a token',
        () => [`POST kept/draft/${good}`, { accept: html, csrf: false, form: { name: 'x', _draft: '' } }],
        403,
      ],
      [
        'the button without a token',
        () => [`POST kept/draft/${good}`, { accept: html, csrf: false, form: { _revoke: 'yes' } }],
        403,
      ],
      [
        'a new draft without a token',
        () => ['POST kept/blocks/apply', { accept: html, csrf: false, form: { _draft: '' } }],
        403,
      ],
      [
        'a new draft as JSON without a token',
        () => ['POST kept/blocks/apply', { csrf: false, json: { _draft: '' } }],
        403,
      ],
      [
        'JSON of another origin',
        () => [`POST kept/draft/${good}`, { csrf: false, json: { _draft: '' }, headers: foreignOrigin }],
        403,
      ],
      ['DELETE of another origin', () => [`DELETE kept/draft/${good}`, { csrf: false, headers: foreignOrigin }], 403],
      [
        'GET with a query that names a button',
        () => [`GET kept/draft/${good}?_revoke=yes&_save=1&_draft=1`, { accept: html }],
        200,
      ],
      [
        'a forged cookie of a visitor',
        () => [`GET kept/draft/${good}`, { headers: { cookie: 'apps_visitor=x.y.z' } }],
        200,
      ],
      ['another user', () => [`GET kept/draft/${good}`, { as: 'una' }], 200],
    ];

    test.each(strange)('%s', async (_, request, status) => {
      const [send, more] = request();
      expect((await ask(send, more)).status).toBe(status);
    });

    test('none of them has changed the draft, and its holder alone reads it', async () => {
      expect((await read('kept', good)).json.values).toMatchObject({ name: 'good', mail: 'good@example.org' });
      const list = await ask('GET /apps/sites/site/apps/kept/drafts', { as: 'clerk' });
      expect(list.status).toBe(200);
      expect(list.text).not.toContain('good@example.org');
      expect(list.text).not.toContain(good);
    });

    test('the panel lists drafts without what was entered, and deletes one', async () => {
      const token = await save('foreign/blocks/apply', { name: 'listed' }, { as: 'una' });
      const at = '/apps/sites/site/apps/foreign/drafts';
      type List = { total: number; drafts: { id: string; block: string; owner: { name: string } | null }[] };
      const list = async () => (await ask(`GET ${at}`, { as: 'overseer' })).json as unknown as List;
      const [first] = (await list()).drafts;
      expect(first).toMatchObject({ id: token.slice(0, 22), block: 'apply', owner: { name: 'una' } });
      const { total } = await list();
      const remove = `DELETE ${at}?id=${first?.id}`;
      expect((await ask(remove, { as: 'overseer' })).status).toBe(403);
      expect((await ask(`DELETE /apps/sites/site/apps/kept/drafts?id=${first?.id}`, { as: 'clerk' })).status).toBe(404);
      expect((await ask(remove, { as: 'clerk' })).json).toEqual({ success: 'deleted' });
      expect((await ask(remove, { as: 'clerk' })).status).toBe(404);
      expect([(await list()).total, (await read('foreign', token)).status]).toEqual([total - 1, 404]);
    });

    const injections = [
      'a@example.org\r\nBcc: victim@example.org',
      'a@example.org\nBcc: victim@example.org',
      'a@example.org, victim@example.org',
      'a@example.org;victim@example.org',
      '"Bcc: victim@example.org" <a@example.org>',
      'a@example.org%0ABcc:victim@example.org',
      'a@exam\u2028ple.org',
      `${'a'.repeat(300)}@example.org`,
    ];

    test.each(injections)('no header is added by the address %j', async (address) => {
      const before = (await rows('apps_mails')).length;
      const answer = await form('kept/blocks/apply', { name: 'x', _draft_email: address, _draft: '1' });
      expect(answer.status).toBe(422);
      expect((await rows('apps_mails')).length).toBe(before);
    });

    test('a mail bomb ends after five mails to one address, and after thirty of one network', async () => {
      const to = (address: string) =>
        ask('POST foreign/blocks/apply', { json: { name: 'bomb', _draft_email: address, _draft: '1' } });
      const many = await Promise.all(
        Array.from({ length: 12 }, (_, at) => to(at % 2 ? 'bomb@example.org' : 'BOMB@example.org')),
      );
      expect(many.map(({ status }) => status)).toEqual(Array(12).fill(201));
      expect(many.filter(({ json }) => json.mailed === true).length).toBeLessThanOrEqual(5);
      for (let at = 0; at < 40; at += 1) await to(`bomb-${at}@example.org`);
      const bombs = (await rows('apps_mails')).map(({ recipients }) => String(recipients).toLowerCase());
      expect(bombs.filter((one) => one === 'bomb@example.org').length).toBeLessThanOrEqual(5);
      // All mails of this file come from one network.
      expect(bombs.length).toBeLessThanOrEqual(30);
      expect((await to('last@example.org')).json).toMatchObject({ mailed: false });
    });

    test('a draft names no file of others, neither of a draft nor of a record', async () => {
      const attached = (name: string, button: string) =>
        parts('kept/blocks/apply', [
          { name: 'name', content: name },
          { name: 'cv', file: 'secret.pdf', content: file },
          { name: button, content: '1' },
        ]);
      const ofDraft = tokenOf(String((await attached('holder', '_draft')).headers.location));
      const own = /value="(stored:[^"]+)"/.exec((await page('kept', ofDraft)).text)?.[1] ?? '';
      await attached('record', '_save');
      const all = (await rows('apps_files')).map((row) => `stored:${row.file}`);
      expect(all).toContain(own);
      for (const text of [...all, 'stored:1', 'sent:cv', 'stored:__proto__']) {
        const before = await rows('apps_drafts');
        for (const field of ['cv', 'people:0:doc'])
          for (const at of ['blocks/apply', `draft/${good}`]) {
            const { status, text: shown } = await form(`kept/${at}`, { name: 'thief', [field]: text, _draft: '1' });
            expect([text, field, at, status]).toEqual([text, field, at, text.startsWith('sent:') ? 303 : 422]);
            if (status === 422) {
              expect(shown).toContain('The chosen file is no longer there.');
              expect(shown).toContain('value="thief"');
              expect(shown).not.toContain(text);
            }
          }
        if (text.startsWith('stored:')) expect(await rows('apps_drafts')).toEqual(before);
        const asJson = await ask('POST kept/blocks/apply', {
          json: { cv: { documentId: text.slice(7) }, _draft: '1' },
        });
        expect(asJson.status).toBe(422);
      }
    });

    test('huge drafts and hundreds of drafts find no room', async () => {
      expect((await form('kept/blocks/apply', { name: 'x'.repeat(1_100_000), _draft: '1' })).status).toBe(413);
      // The file has 8 MB for all drafts of an app: one sender an eighth.
      let refusal = '';
      for (let at = 0; at < 4 && refusal === ''; at += 1) {
        const answer = await form('visited/blocks/apply', { name: 'large', more: 'y'.repeat(500_000), _draft: '1' });
        if (answer.status !== 303) refusal = `${answer.status} ${answer.text.includes('too many or too large drafts')}`;
      }
      expect(refusal).toBe('422 true');
      const many = await Promise.all(
        Array.from({ length: DRAFTS + 20 }, () =>
          ask('POST proved/blocks/apply', { as: 'una', json: { name: 'n', _draft: '1' } }),
        ),
      );
      const made = many.filter(({ status }) => status === 201).length;
      expect(made).toBeGreaterThanOrEqual(DRAFTS);
      expect((await ask('POST proved/blocks/apply', { as: 'una', json: { name: 'n', _draft: '1' } })).status).toBe(422);
      // Others of the app, and the same requester in another app, have room.
      expect((await ask('POST proved/blocks/apply', { as: 'nina', json: { name: 'n', _draft: '1' } })).status).toBe(
        201,
      );
      expect((await ask('POST kept/blocks/apply', { as: 'una', json: { name: 'n', _draft: '1' } })).status).toBe(201);
    });

    test('names of fields that belong to objects are no fields', async () => {
      const given = {
        name: 'x',
        __proto__x: 'a',
        constructor: 'b',
        'people:__proto__:who': 'c',
        'people:0:__proto__': 'd',
      };
      const token = await save('kept/blocks/apply', { ...given, ['__proto__']: 'e' });
      const { values } = (await read('kept', token)).json as { values: object };
      expect(Object.keys(values)).toEqual(['name']);
    });
  });
}
