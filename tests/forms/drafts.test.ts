import { describe, expect, test } from 'vitest';
import { configured } from '../support/configure';
import { availableClients } from '../support/databases';
import { useDatabase, useFolder, useStage, useThemes } from '../support/hooks';
import { locationOf } from '../support/send';
import { html } from '../support/stage';
import { DRAFTS, draftTools, TOKEN, writeApps } from './drafts/apps';
import { attacks } from './drafts/attacks';
import { draftBrowsers } from './drafts/browsers';
import { changes } from './drafts/changes';
import { endedDrafts } from './drafts/ended';
import { draftFiles } from './drafts/files';
import { pdf } from './files/send';

describe.each(await availableClients())('drafts on %s', (client) => {
  const folder = useFolder('drafts');
  const themes = useThemes(writeApps);
  const database = useDatabase(client);
  // More drafts than the other tests of the file make for one sender.
  const limits = { formPosts: 0, formTime: 0, draftsOfSender: DRAFTS, draftSize: 8_000_000 };
  const stage = useStage(() => ({
    themesDirectory: themes.directory,
    env: {
      ...database().address.env,
      TZ: 'UTC',
      ...configured({ apps: { filesDirectory: folder('kept'), temporaryDirectory: folder('held'), limits } }),
    },
  }));
  const tools = draftTools(stage);
  const { ask, form, save, page, read, records, rows, tokenOf } = tools;

  test('a form is saved unfinished, and continued by its link', async () => {
    const before = (await records('kept')).length;
    const given = { name: '', mail: 'not yet', age: 'x', kind: 'red', more: 'of it', pin: '1234' };
    const saved = await form('kept/blocks/apply', { ...given, _draft: '1' });
    expect(saved.status).toBe(303);
    const link = locationOf(saved);
    const token = tokenOf(link.pathname);
    expect(link.href).toBe(`${stage.host.url}/site/@@apps/kept/draft/${token}`);
    const cookie = String(saved.headers['set-cookie']).split(';')[0] ?? '';
    const opened = await page('kept', token, { headers: { cookie } });
    expect(opened.status).toBe(200);
    for (const text of [
      'What you have entered is saved.',
      'Anyone who has this link can do the same as you: keep it for yourself.',
      `action="${link.href}"`,
      `value="${link.href}"`,
      'not yet',
      'of it',
    ])
      expect(opened.text).toContain(text);
    expect(opened.text).not.toContain('1234');
    expect(opened.text).not.toContain('rel="canonical"');
    expect(opened.headers).toMatchObject({
      'referrer-policy': 'no-referrer',
      'cache-control': 'private, no-store',
      'x-robots-tag': 'noindex, nofollow',
    });
    const asJson = await read('kept', token);
    expect(asJson.json).toMatchObject({
      block: 'apply',
      values: { name: '', mail: 'not yet', age: 'x', kind: 'red', more: 'of it' },
    });
    const days = (Date.parse(String(asJson.json.until)) - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(29.99);
    expect(days).toBeLessThan(30.01);
    expect((await records('kept')).length).toBe(before);
    // Saved again, it is the same draft.
    expect(await save(`kept/draft/${token}`, { ...given, name: 'Anna' })).toBe(token);
    expect((await read('kept', token)).json).toMatchObject({ values: { name: 'Anna' } });
    const refused = await form(`kept/draft/${token}`, { ...given, name: 'Anna', _save: '1' });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain(`action="${link.href}"`);
    const sent = { ...given, name: 'Anna', mail: 'anna@example.org', age: '41' };
    expect((await form(`kept/draft/${token}`, { ...sent, name: 'refused', _save: '1' })).status).toBe(422);
    const done = await form(`kept/draft/${token}`, { ...sent, _save: '1' });
    expect(done.status).toBe(303);
    const id = /record\/([^?]+)/.exec(locationOf(done).pathname)?.[1] ?? '';
    expect(await stage.items('kept', id)).toMatchObject({
      name: 'Anna',
      age: 41,
      sum: 42,
      fixed: 'usual',
      block: 'apply',
    });
    expect((await read('kept', token)).status).toBe(404);
    expect((await page('kept', token)).status).toBe(404);
    expect((await form(`kept/draft/${token}`, { ...given, _draft: '1' })).status).toBe(409);
  });

  test('a form that is sent twice makes one record, and both answers lead to it', async () => {
    const token = await save('kept/blocks/apply', { name: 'Twice' });
    const opened = await page('kept', token);
    const csrf = /name="_csrf" value="([^"]+)"/.exec(opened.text)?.[1] ?? '';
    const sent = { name: 'Twice', mail: 'twice@example.org', _save: '1', _csrf: csrf };
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => form(`kept/draft/${token}`, sent, { csrf: false })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(303));
    expect(new Set(answers.map((answer) => locationOf(answer).pathname)).size).toBe(1);
    // From other pages, which have other tokens.
    const second = await save('kept/blocks/apply', { name: 'Rivals' });
    const pages = await Promise.all(Array.from({ length: 8 }, () => page('kept', second)));
    const rivals = await Promise.all(
      pages.map(({ text }) => {
        const own = /name="_csrf" value="([^"]+)"/.exec(text)?.[1] ?? '';
        return form(`kept/draft/${second}`, { name: 'Rivals', _save: '1', _csrf: own }, { csrf: false });
      }),
    );
    expect(rivals.map(({ status }) => status).sort()).toEqual([303, ...Array(7).fill(409)].sort());
    const names = (await records('kept')).map(({ name }) => name);
    expect(names.filter((name) => name === 'Twice')).toHaveLength(1);
    expect(names.filter((name) => name === 'Rivals')).toHaveLength(1);
  });

  test('a form with pages is continued at its page, with its repeated groups', async () => {
    const first = await form('kept/blocks/paged', {
      name: 'Paul',
      mail: 'paul@example.org',
      _page: '0',
      _seen: '0',
      _next: '1',
    });
    expect(first.text).toMatch(/name="_draft"[^>]*>Save and continue later</);
    const second = {
      name: 'Paul',
      mail: 'paul@example.org',
      _seen: '0,1',
      _page: '2',
      kind: 'red',
      more: 'yes',
      'people:0': '1',
      'people:0:who': 'Ada',
      'people:3': '1',
      'people:3:who': 'Bob',
    };
    const token = await save('kept/blocks/paged', second);
    const opened = (await page('kept', token)).text;
    expect(opened).toMatch(/aria-current="step">Third</);
    expect(opened).toContain('value="Ada"');
    expect(opened).toContain('<input type="hidden" name="mail" value="paul@example.org">');
    expect((await read('kept', token)).json.values).toMatchObject({
      name: 'Paul',
      people: [{ who: 'Ada' }, { who: 'Bob' }],
    });
    const back = await form(`kept/draft/${token}`, { ...second, _back: '1' });
    expect(back.text).toMatch(/aria-current="step">Second</);
    expect(back.text).toContain(`/draft/${token}`);
    const added = await form(`kept/draft/${token}`, { ...second, 'people:add': '1' });
    expect(added.text.match(/name="people:\d+:who"/g)).toHaveLength(3);
    const sent = await form(`kept/draft/${token}`, { ...second, _save: '1' });
    expect(sent.status).toBe(303);
    expect((await records('kept')).find(({ name }) => name === 'Paul')).toMatchObject({
      people: [{ who: 'Ada' }, { who: 'Bob' }],
    });
  });

  test('JSON clients save, read, send and delete drafts', async () => {
    const made = await ask('POST kept/blocks/apply', { json: { name: 'Json', people: [{ who: 'Ada' }], _draft: '1' } });
    expect([made.status, made.json.success]).toEqual([201, 'created']);
    const token = tokenOf(String(made.json.link));
    expect(made.json).not.toHaveProperty('mailed');
    expect((await read('kept', token)).json.values).toMatchObject({ name: 'Json', people: [{ who: 'Ada' }] });
    const again = await ask(`POST kept/draft/${token}`, { csrf: false, json: { name: 'Jason', _draft: '1' } });
    expect([again.status, again.json.success, tokenOf(String(again.json.link))]).toEqual([200, 'updated', token]);
    expect((await ask('POST kept/blocks/apply', { json: { name: [{}], _draft: '1' } })).status).toBe(422);
    const sent = await ask(`POST kept/draft/${token}`, { csrf: false, json: { name: 'Jason', _save: '1' } });
    expect(sent.status).toBe(201);
    const other = await save('kept/blocks/apply', { name: 'Gone' });
    const removed = await ask(`DELETE kept/draft/${other}`, { csrf: false });
    expect([removed.status, removed.json]).toEqual([200, { success: 'deleted' }]);
    expect((await ask(`DELETE kept/draft/${other}`, { csrf: false })).status).toBe(404);
  });

  test('a button deletes the draft, after a question', async () => {
    const token = await save('kept/blocks/apply', { name: 'Ended' });
    expect((await page('kept', token)).text).toContain('name="_revoke" value="ask"');
    const asked = await form(`kept/draft/${token}`, { name: 'Ended', _revoke: 'ask' });
    expect(asked.text).toContain('name="_revoke" value="yes"');
    expect((await read('kept', token)).status).toBe(200);
    const done = await form(`kept/draft/${token}`, { _revoke: 'yes' });
    expect([done.status, done.text.includes('The draft was deleted')]).toEqual([200, true]);
    expect((await page('kept', token)).status).toBe(404);
  });

  test('a draft takes no place, no unique value, and is in no list; its form is checked when it is sent', async () => {
    const token = await save('kept/blocks/seats', { name: 'Waits' });
    expect((await ask('POST kept/blocks/seats', { json: { name: 'First', _save: '1' } })).status).toBe(201);
    const opened = (await page('kept', token)).text;
    expect(opened).toContain('All places are taken.');
    expect(opened).toContain('<dd>Waits</dd>');
    const refused = await form(`kept/draft/${token}`, { name: 'Waits', _save: '1' });
    expect([refused.status, refused.text.includes('<dd>Waits</dd>')]).toEqual([409, true]);
    expect((await read('kept', token)).status).toBe(200);
    const [one, two] = [
      await save('kept/blocks/unique', { mail: 'u@example.org' }),
      await save('kept/blocks/unique', { mail: 'u@example.org' }),
    ];
    expect((await form(`kept/draft/${one}`, { mail: 'u@example.org', _save: '1' })).status).toBe(303);
    expect((await form(`kept/draft/${two}`, { mail: 'u@example.org', _save: '1' })).status).toBe(422);
    expect((await read('kept', two)).status).toBe(200);
  });

  test("a draft of a visitor becomes a record of this visitor, on another device too; of a user who sends it the user's", async () => {
    const shown = await ask('GET visited/blocks/apply', { accept: html });
    const cookie = (shown.headers['set-cookie'] ?? []).map((one) => one.split(';')[0]).join('; ');
    const token = await save('visited/blocks/apply', { name: 'Here' }, { headers: { cookie } });
    const days = (Date.parse(String((await read('visited', token)).json.until)) - Date.now()) / 86_400_000;
    expect(Math.round(days * 10)).toBe(20);
    expect((await form(`visited/draft/${token}`, { name: 'There', _save: '1' })).status).toBe(303);
    const own = await ask('GET visited/records', { headers: { cookie } });
    expect((own.json as unknown as { items: { name: string } }[]).map(({ items }) => items.name)).toEqual(['There']);
    const second = await save('visited/blocks/apply', { name: 'Mine' }, { headers: { cookie } });
    expect((await form(`visited/draft/${second}`, { name: 'Una', _save: '1' }, { as: 'una' })).status).toBe(303);
    const users = await ask('GET visited/records', { as: 'una' });
    expect((users.json as unknown as { items: { name: string } }[]).map(({ items }) => items.name)).toEqual(['Una']);
  });

  test('the right to send the form, a place in it and its permission are needed as for saving', async () => {
    expect((await form('closed/blocks/apply', { name: 'x', _draft: '1' })).status).toBe(401);
    expect((await form('closed/blocks/apply', { name: 'x', _draft: '1' }, { as: 'una' })).status).toBe(403);
    const token = await save('closed/blocks/apply', { name: 'x' }, { as: 'sam' });
    expect((await form(`closed/draft/${token}`, { name: 'y', _draft: '1' })).status).toBe(401);
    expect((await form(`closed/draft/${token}`, { name: 'y', _save: '1' }, { as: 'una' })).status).toBe(403);
    // The login form is at the address of the draft, and keeps what was entered.
    const opened = await page('closed', token);
    expect(opened.text).toMatch(/href="[^"]*@@login"/);
    const _csrf = /name="_csrf" value="([^"]+)"/.exec(opened.text)?.[1] ?? '';
    const login = await form(`closed/draft/${token}`, { name: 'typed', _save: '1', _csrf }, { csrf: false });
    expect(login.status).toBe(401);
    expect(login.text).toContain(`/closed/draft/${token}"`);
    expect(login.text).toContain('name="kept.name" value="typed"');
    expect((await form('kept/blocks/members', { name: 'x', _draft: '1' })).status).toBe(401);
    expect((await ask('POST kept/blocks/plain', { json: { name: 'x', _draft: '1' } })).status).toBe(400);
    expect((await form('kept/blocks/apply', { name: 'x', _website: 'spam', _draft: '1' })).status).toBe(422);
    expect((await form('proved/blocks/apply', { name: 'x', _draft: '1' })).status).toBe(422);
    expect((await ask('GET kept/blocks/plain', { accept: html })).text).not.toContain('_draft');
  });

  test('the link is sent to the address in the form, in a mail of a fixed text', async () => {
    const given = { name: 'Mallory <b>', mail: 'x@example.org', _draft_email: 'me@exämple.org' };
    const saved = await form('kept/blocks/apply', { ...given, _draft: '1' });
    const cookie = String(saved.headers['set-cookie']).split(';')[0] ?? '';
    const token = tokenOf(locationOf(saved).pathname);
    expect((await page('kept', token, { headers: { cookie } })).text).toContain('The link is on its way');
    const [mail] = (await rows('apps_mails')).slice(-1);
    expect([mail?.recipients, mail?.subject]).toEqual(['me@xn--exmple-cua.org', 'Continue later: Application']);
    const bodies = [mail?.text, stage.host.output()].join('\n');
    expect(bodies).not.toContain('Mallory');
    const byView = await form('/site/@@drafted', { mail: 'view@example.org', _draft: '1' });
    expect([byView.status, (await read('kept', tokenOf(locationOf(byView).pathname))).json.values]).toEqual([
      303,
      { mail: 'view@example.org' },
    ]);
    const wrong = await form('kept/blocks/apply', { ...given, _draft_email: 'no address', _draft: '1' });
    expect([wrong.status, wrong.text.includes('value="no address"')]).toEqual([422, true]);
    expect(stage.host.output()).not.toContain(token);
    const mails = (await rows('apps_mails')).length;
    for (const value of [5, true, null, { a: 1 }, {}, [], ['me@example.org'], ['a@example.org', 'b@example.org']]) {
      const json = { name: 'x', _draft_email: value, _draft: '1' };
      const refused = await ask('POST kept/blocks/apply', { json });
      expect([value, refused.status, refused.json.error]).toEqual([
        value,
        422,
        expect.objectContaining({ details: { errors: [{ path: ['_draft_email'], message: 'This must be text.' }] } }),
      ]);
    }
    expect((await rows('apps_mails')).length).toBe(mails);
  });

  endedDrafts(tools);
  draftFiles(tools);
  changes(stage, tools, themes);
  attacks(stage, tools, pdf);
  if (client === 'sqlite') draftBrowsers(stage);

  test('a draft that is over is found by nothing, and no token is stored', async () => {
    const token = await save('kept/blocks/apply', { name: 'Over' });
    await stage.host.run(
      async (strapi, id) => {
        await strapi.db
          .connection('apps_drafts')
          .where({ draft_id: id })
          .update({ ends_at: Date.now() - 1 });
      },
      token.slice(0, 22),
    );
    expect((await read('kept', token)).status).toBe(404);
    const late = await form(`kept/draft/${token}`, { name: 'Over', _draft_block: 'apply', _draft: '1' });
    expect([late.status, late.text.includes('value="Over"')]).toEqual([409, true]);
    const texts = JSON.stringify(await rows('apps_drafts'));
    expect(texts).toContain(token.slice(0, 22));
    expect(texts).not.toContain(token.slice(22));
    expect(TOKEN.test(texts)).toBe(false);
  });
});
