import { describe, expect, test } from 'vitest';
import { cookieOf, hiddenField, logIn } from '../../support/login';
import { type Answer, send } from '../../support/send';
import type { Stage } from '../../support/stage';
import { tags } from '../fields/form';

type Fields = Record<string, string | string[]>;

/** Hidden fields of a page's last form, by name. */
function hiddenFields({ text }: Answer): Fields {
  const fields: Record<string, string[]> = {};
  for (const [tag] of text.matchAll(/<input type="hidden"[^>]*>/g)) {
    const [, name = '', value = ''] = /name="([^"]*)" value="([^"]*)"/s.exec(tag) ?? [];
    fields[name] = [
      ...(fields[name] ?? []),
      value
        .replaceAll('&lt;', '<')
        .replaceAll('&gt;', '>')
        .replaceAll('&quot;', '"')
        .replaceAll('&#39;', "'")
        .replaceAll('&amp;', '&'),
    ];
  }
  return fields;
}

/** A form between whose opening and sending the session ends (docs/reference/rights.md#forms-sent-after-the-session-has-ended). */
export function logins(stage: Stage): void {
  const page = (path: string, cookie = '', form?: Fields, headers: Record<string, string> = {}) =>
    send(stage.host.url, {
      method: form ? 'POST' : 'GET',
      path,
      form,
      headers: { accept: 'text/html', ...(cookie && { cookie }), ...headers },
    });
  const session = async (name: string) =>
    cookieOf(await logIn(stage.host.url, { name, password: (await stage.user(name)).password }));
  /** A cookie whose session has ended, and the token of a form that was opened with it. */
  async function ended(path: string): Promise<{ cookie: string; token: string }> {
    const cookie = await session('anna');
    const token = hiddenField((await page(path, cookie)).text, '_csrf');
    const out = await page('/site/@@logout', cookie);
    await page('/site/@@logout', cookie, { _csrf: hiddenField(out.text, '_csrf') });
    return { cookie, token };
  }
  const entered = { text: 'two\nlines & <b>', password: 'no login', tags: ['a', 'c'], identifier: 'x', _save: '' };
  const kept = (text: string) => {
    expect(text).toContain('two\nlines &amp; &lt;b&gt;</textarea>');
    expect(tags(text, 'password')[0]).toContain('value="no login"');
    expect(tags(text, 'tags').map((tag) => tag.includes('checked'))).toEqual([true, false, true]);
  };
  const account = async (name: string) => ({ identifier: name, password: (await stage.user(name)).password });
  const count = async () => (await stage.send<unknown[]>({ as: 'mona', send: 'GET members/records' })).json.length;

  describe('a form sent after the session has ended', () => {
    const addresses = ['/site/@@note', '/site/@@apps/members/blocks/note'];
    test.each(addresses)('%s: the login form keeps what was entered, and the form has it afterwards', async (path) => {
      const before = await count();
      const { cookie, token } = await ended(path);
      const login = await page(path, cookie, { ...entered, _csrf: token });
      expect(login.status).toBe(401);
      for (const part of ['id="themed"', 'Your session has ended', 'type="password"'])
        expect(login.text).toContain(part);
      expect(login.headers['set-cookie']?.join()).toMatch(/Max-Age=0/);
      const browser = cookieOf(login)
        .split('; ')
        .filter((one) => one.startsWith('apps_login'))
        .join();

      const wrong = await page(path, browser, { ...hiddenFields(login), identifier: 'anna', password: 'wrong' });
      expect(wrong.status).toBe(401);
      expect(wrong.text).toContain('The name or the password is not right');
      expect(tags(wrong.text, 'identifier')[0]).toContain('value="anna"');

      const again = await page(path, browser, { ...hiddenFields(wrong), ...(await account('anna')) });
      expect(again.status, again.text).toBe(200);
      kept(again.text);
      expect(again.text).toContain('form has identifier,password,tags,text');
      expect(again.text).not.toContain((await account('anna')).password);
      expect(await count()).toBe(before);

      const action = new URL(/<form name="note"[^>]*action="([^"]*)"/.exec(again.text)?.[1] ?? '').pathname;
      expect(action).toBe(path);
      const saved = await page(path, cookieOf(again), { ...entered, _csrf: hiddenField(again.text, '_csrf') });
      expect([saved.status, await count()]).toEqual([303, before + 1]);
    });

    test('a visitor who has no session is asked to log in when it is needed', async () => {
      const token = hiddenField((await page('/site/@@note')).text, '_csrf');
      const answer = await page('/site/@@note', '', { ...entered, _csrf: token });
      expect(answer.status).toBe(401);
      expect(answer.text).toContain(
        'Please log in to send this form. What you have entered is there again afterwards.',
      );
      // The browser has dropped the cookie: the token belongs to a session that is not there.
      const old = await ended('/site/@@note');
      const dropped = await page('/site/@@note', '', { ...entered, _csrf: old.token });
      expect([dropped.status, dropped.text.includes('type="password"')]).toEqual([403, true]);
    });

    test('a form with an old token is shown again with what was entered, and carries out nothing', async () => {
      const before = await count();
      const other = hiddenField((await page('/site/@@note')).text, '_csrf');
      const cookie = await session('anna');
      const answer = await page('/site/@@note', cookie, { ...entered, _csrf: other });
      expect([answer.status, await count()]).toEqual([403, before]);
      expect(answer.text).toContain('This form was open for too long');
      kept(answer.text);
      const sent = await page('/site/@@note', cookie, { ...entered, _csrf: hiddenField(answer.text, '_csrf') });
      expect(sent.status).toBe(303);
      const json = { accept: 'application/json', cookie };
      expect((await page('/site/@@note', cookie, { ...entered, _csrf: other }, json)).text).toContain('"CsrfError"');
    });

    test('a page of another address gets nothing kept', async () => {
      const foreign = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
      const token = hiddenField((await page('/site/@@note')).text, '_csrf');
      for (const _csrf of [token, 'x']) {
        const answer = await page('/site/@@note', '', { ...entered, _csrf }, foreign);
        expect([401, 403]).toContain(answer.status);
        expect(answer.text).not.toContain('two\nlines');
      }
      const login = await page('/site/@@note', '', { ...entered, _csrf: token });
      const fields = { ...hiddenFields(login), ...(await account('anna')) };
      const sent = await page('/site/@@note', cookieOf(login), fields, foreign);
      expect([sent.status, cookieOf(sent).includes('apps_session')]).toEqual([403, false]);
      // A login form of another browser.
      const stolen = await page('/site/@@note', '', fields);
      expect([stolen.status, cookieOf(stolen).includes('apps_session')]).toEqual([403, false]);
    });

    test('buttons among the kept fields carry out nothing', async () => {
      const login = await page('/site/@@note', '', {
        ...entered,
        _csrf: hiddenField((await page('/site/@@note')).text, '_csrf'),
      });
      const before = await count();
      const fields = {
        ...hiddenFields(login),
        ...(await account('anna')),
        'kept._save': '1',
        'kept.action.add': '1',
        'kept._csrf': 'x',
        _save: '1',
      };
      const answer = await page('/site/@@note', cookieOf(login), fields);
      expect([answer.status, await count()]).toEqual([200, before]);
    });

    test('a form that is too long to be kept says so', async () => {
      const token = hiddenField((await page('/site/@@note')).text, '_csrf');
      const answer = await page('/site/@@note', '', { ...entered, text: 'long '.repeat(50_000), _csrf: token });
      expect(answer.status).toBe(401);
      expect(answer.text).toContain('too long to be kept');
      expect(answer.text).not.toContain('long long');
    });

    test('a form with a file keeps its texts, and asks for the file again', async () => {
      const path = '/site/@@apps/members/blocks/letter';
      const before = await count();
      const sendFile = async (_csrf: string, cookie: string) => {
        const body = new FormData();
        for (const [name, value] of Object.entries({ _csrf, text: 'typed', _save: '' })) body.set(name, value);
        body.set('letter', new Blob(['x'.repeat(2_000_000)]), 'letter.txt');
        const answer = await fetch(stage.host.url + path, {
          method: 'POST',
          headers: { accept: 'text/html', ...(cookie && { cookie }) },
          body,
        });
        return { status: answer.status, text: await answer.text() };
      };
      const { cookie, token } = await ended(path);
      const anonymous = hiddenField((await page(path)).text, '_csrf');
      for (const [browser, csrf] of [
        [cookie, token],
        ['', anonymous],
      ] as const) {
        const login = await sendFile(csrf, browser);
        expect(login.status).toBe(401);
        expect(login.text).toContain('there again afterwards, except files.');
        expect(tags(login.text, 'kept.text')[0]).toContain('value="typed"');
      }
      const shown = await sendFile(anonymous, await session('anna'));
      expect(shown.status).toBe(403);
      expect(tags(shown.text, 'text')[0]).toContain('value="typed"');
      expect(shown.text).toContain('Please choose the file again.');
      const stranger = await session('una');
      const refused = await sendFile(hiddenField((await page(path, stranger)).text, '_csrf'), stranger);
      expect([refused.status, await count()]).toEqual([403, before]);
    });

    test('an edit form and a block for some users come back too', async () => {
      await stage.put('members', 'mine', { block: 'note', text: 'Stored' }, 'anna');
      const path = '/site/@@apps/members/record/mine';
      const { cookie, token } = await ended(`${path}/edit`);
      const login = await page(path, cookie, { ...entered, _csrf: token });
      const again = await page(path, cookieOf(login), { ...hiddenFields(login), ...(await account('anna')) });
      kept(again.text);
      const shut = '/site/@@apps/members/blocks/shut';
      const other = await ended(shut);
      const asked = await page(shut, '', { text: 'typed', 'action.go': '1', _csrf: other.token });
      expect(asked.text).toContain('Please log in to see &quot;The results&quot;');
      const back = await page(shut, cookieOf(asked), { ...hiddenFields(asked), ...(await account('anna')) });
      expect(tags(back.text, 'text')[0]).toContain('value="typed"');
      const stranger = await page(shut, cookieOf(asked), { ...hiddenFields(asked), ...(await account('una')) });
      expect([stranger.status, stranger.text.includes('typed')]).toEqual([403, false]);
    });
  });
}
