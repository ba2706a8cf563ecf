import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { AppOptions } from '../../../plugins/apps/shared/admin-api';
import { html, type Stage } from '../../support/stage';
import { runTable } from '../../support/table';

interface Sent {
  to: string;
  subject: string;
  text?: string;
  html?: string;
  replyTo?: string;
}

type Box = typeof globalThis & { mails: Sent[]; mailFails: string | null };

/** Mails by the app `mails` of the test themes, with a provider that only remembers them. */
export function mailOfApps(stage: Stage): void {
  const post = (element: string, json: object = {}, as = 'anonymous') =>
    stage.send({ as, send: `POST mails/blocks/${element}`, json });
  const form = (block: string, fields: Record<string, string | string[]>, as = 'anonymous') =>
    stage.send({ as, send: `POST mails/blocks/${block}`, accept: html, form: { ...fields, _save: '' } });
  const sent = () => stage.host.run(() => (globalThis as Box).mails);
  const rows = () =>
    stage.host.run((strapi) => strapi.db.query('plugin::apps.mail').findMany({ orderBy: { id: 'asc' } })) as Promise<
      Record<string, unknown>[]
    >;
  const failWith = (message: string | null) =>
    stage.host.run((_strapi, text) => {
      (globalThis as Box).mailFails = text;
    }, message);

  describe('mail', () => {
    beforeAll(async () => {
      await stage.host.run((strapi) => {
        const box = globalThis as Box;
        box.mailFails = null;
        strapi.plugin('email').service('email').send = async (mail: Sent) => {
          if (box.mailFails) throw new Error(box.mailFails);
          box.mails.push(mail);
        };
      });
    });
    beforeEach(async () => {
      await stage.host.run(async (strapi) => {
        (globalThis as Box).mails = [];
        await strapi.db.query('plugin::apps.mail').deleteMany({});
      });
    });

    const message = { to: 'owner@example.org', subject: 'Hello', text: 'A text' };

    test('is sent after the commit, once, by the email plugin', async () => {
      const full = {
        ...message,
        to: ['Owner@Example.org', 'x@staff.example.org'],
        html: '<p>A text</p>',
        reply_to: 'me@example.com',
      };
      expect(await post('script/send', full)).toMatchObject({ status: 200, json: 'queued' });
      const expected = { subject: 'Hello', text: 'A text', html: '<p>A text</p>' };
      await expect
        .poll(sent)
        .toEqual([{ ...expected, to: 'Owner@Example.org, x@staff.example.org', replyTo: 'me@example.com' }]);
      await expect.poll(rows).toMatchObject([{ state: 'sent', app: 'mails', text: null, html: null, attempts: 1 }]);
    });

    test('is not sent when the request fails', async () => {
      expect((await post('script/send', { ...message, fails: true })).status).toBe(500);
      expect([await sent(), await rows()]).toEqual([[], []]);
    });

    test('is sent once for each of several requests that collide', async () => {
      const answers = await Promise.all(Array.from({ length: 8 }, () => post('script/collide')));
      expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
      const subjects = async () => (await sent()).map(({ subject }) => subject).sort();
      await expect.poll(subjects).toEqual(Array.from({ length: 8 }, (_, index) => `Total ${index + 1}`));
    });

    test('is sent from Python', async () => {
      expect((await post('snake/send')).json).toBe('queued');
      await expect
        .poll(sent)
        .toEqual([{ to: 'a@staff.example.org', subject: 'From Python', text: 'Hello', replyTo: 'b@example.com' }]);
      expect((await post('snake/refused')).json).toBe('BadRequestError');
    });

    test('goes to the account of the requester', async () => {
      const { email } = (await stage.host.run((strapi) =>
        strapi.db.query('plugin::users-permissions.user').findOne({ where: { username: 'una' } }),
      )) ?? { email: '' };
      await stage.user('una');
      const to = email || `una@example.com`;
      expect((await post('script/caught', { ...message, to }, 'una')).json).toBe(null);
      expect((await post('script/caught', { ...message, to })).json).toEqual([
        'BadRequestError',
        expect.stringContaining(to),
      ]);
    });

    test.each([
      ['to anyone else', { to: 'other@example.com' }, /may not send to other@example.com/],
      ['to a domain that only ends alike', { to: 'a@evilstaff.example.org' }, /may not send/],
      ['to a name with an address', { to: 'Me <owner@example.org>' }, /bare address/],
      ['to two addresses in one', { to: 'owner@example.org,other@example.com' }, /bare address/],
      ['to an address with a line break', { to: 'owner@example.org\nBcc: x@example.com' }, /bare address/],
      ['to nobody', { to: [] }, /"to" must be/],
      ['to too many', { to: Array(11).fill('owner@example.org') }, /at most 10/],
      ['with a header in the subject', { subject: 'Hi\r\nBcc: x@example.com' }, /one line/],
      ['with a header in reply_to', { reply_to: 'a@example.org\r\nBcc: x@example.com' }, /"reply_to" must be/],
      ['without a subject', { subject: ' ' }, /"subject"/],
      ['with a long subject', { subject: 'x'.repeat(251) }, /at most 250/],
      ['without a body', { text: '' }, /"text" or "html"/],
      ['with a large text', { text: 'x'.repeat(100_001) }, /at most 100000/],
      ['with another key', { bcc: 'x@example.com' }, /no option bcc/],
    ])('is refused %s', async (_name, changed, error) => {
      const { json } = await post('script/caught', { ...message, ...changed });
      expect(json).toEqual(['BadRequestError', expect.stringMatching(error)]);
      expect(await rows()).toEqual([]);
    });

    test('is refused beyond the number of a request, with all of it', async () => {
      expect((await post('script/many')).status).toBe(500);
      expect(await rows()).toEqual([]);
    });

    test('is refused beyond the rate of the app, which all processes count', async () => {
      await stage.host.run(async (strapi) => {
        const row = {
          site: 'site',
          app: 'mails',
          recipients: 'x',
          subject: 'x',
          block: '',
          mails: 1,
          state: 'sent',
          attempts: 1,
          triedAt: Date.now(),
          dueAt: Date.now(),
        };
        for (let count = 0; count < 99; count += 1)
          await strapi.db.query('plugin::apps.mail').create({ data: { ...row, mailId: `test-${count}` } });
      });
      expect((await post('script/send', message)).status).toBe(200);
      expect((await post('script/caught', message)).json).toEqual([
        'RateLimitError',
        expect.stringContaining('100 mails in an hour'),
      ]);
      expect(await post('script/send', message)).toMatchObject({ status: 429, headers: { 'retry-after': '600' } });
    });

    runTable(stage, [
      {
        title: 'a GET without a token sends none',
        send: 'GET mails/blocks/script/many',
        status: 403,
        error: 'CsrfError',
      },
      { title: 'the addresses are not shown', send: 'GET mails', status: 200, lacks: ['owner@example.org', '"mail"'] },
      {
        title: 'the addresses are for managers',
        as: 'mona',
        send: 'GET mails',
        status: 200,
        has: ['owner@example.org'],
      },
      {
        title: 'an address that settings.yaml does not name',
        as: 'mona',
        send: 'GET mails/blocks/refused',
        accept: html,
        status: 500,
        has: ['does not name anybody@example.com', 'blocks/refused.yaml:1'],
      },
    ]);

    test('that cannot be sent is kept, and in the log', async () => {
      await failWith('no connection');
      expect((await post('script/send', message)).status).toBe(200);
      await expect.poll(rows).toMatchObject([{ state: 'queued', text: 'A text', attempts: 1, error: 'no connection' }]);
      await expect
        .poll(() => stage.host.printed())
        .toMatch(
          /mail of site\/mails was not sent, it will be tried again \(no connection\): to owner@example.org, subject "Hello": A text/,
        );
      await failWith(null);
    });

    describe('of notify', () => {
      test('is sent when the form is saved, with the block as its body', async () => {
        const fields = { name: 'Ada\u2028Bcc: x@example.com', email: 'ada@example.com', topics: ['a', 'b'] };
        expect((await form('contact', fields)).status).toBe(303);
        await expect.poll(sent).toEqual([
          {
            to: 'office@example.org',
            subject: 'Message of Ada Bcc: x@example.com: Ada-Bcc-x-example-com',
            html: expect.stringContaining('<h1>Ada'),
            text: expect.stringMatching(/^Your name: Ada.*\nemail: ada@example.com\ntopics: a, b$/s),
            replyTo: 'ada@example.com',
          },
        ]);
      });

      test('goes where an administrator says, by the options of the site', async () => {
        const send = 'PUT /apps/sites/site/apps/mails/options';
        const options = { recipient: 'branch@example.org' };
        const set = await stage.send<AppOptions>({ as: 'root', send, json: { options, revision: null } });
        await form('contact', { name: 'branch' });
        await expect.poll(async () => (await sent()).map(({ to }) => to)).toEqual(['branch@example.org']);
        await stage.send({ as: 'root', send, json: { options: null, revision: set.json.revision } });
      });

      test('is not sent when fields are wrong or the request fails', async () => {
        expect((await form('contact', { name: '' })).status).toBe(422);
        expect((await form('contact', { name: 'undone' })).status).toBe(500);
        expect(await rows()).toEqual([]);
      });

      test('is sent without a block that fails', async () => {
        expect((await form('broken', { name: 'x' })).status).toBe(303);
        await expect.poll(sent).toEqual([{ to: 'owner@example.org', subject: 'Broken', text: 'name: x' }]);
        expect(await stage.host.printed()).toMatch(/mails\/broken: notify: the mail is sent without "fails"/);
      });
    });
  });
}
