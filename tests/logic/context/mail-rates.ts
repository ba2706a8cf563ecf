import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { AppDetail, AppMails } from '../../../plugins/apps/shared/admin-api';
import { html, type Stage } from '../../support/stage';

interface Sent {
  to: string;
  subject: string;
  text: string;
  html?: string;
  replyTo?: string;
}

type Box = typeof globalThis & { rated: Sent[] };

const HOUR = 60 * 60_000;
const times = (count: number) => Array.from({ length: count }, (_, at) => at);

/** Mails of forms by the app `mails`, of which a host sends a hundred in an hour. */
export function ratesOfMails(stage: Stage): void {
  const form = async (block: string, name: string) => {
    const fields = { name, email: 'me@example.com', _save: '' };
    const { status, text } = await stage.send({ send: `POST mails/blocks/${block}`, accept: html, form: fields });
    expect(status, text).toBe(303);
  };
  /** Forms of different visitors at the same time, some at once. */
  const forms = async (block: string, names: readonly string[]) => {
    for (let at = 0; at < names.length; at += 20)
      await Promise.all(names.slice(at, at + 20).map((name) => form(block, name)));
  };
  const sent = () => stage.host.run(() => (globalThis as Box).rated);
  const states = () =>
    stage.host.run(async (strapi) => {
      const rows = await strapi.db.query('plugin::apps.mail').findMany({ orderBy: { id: 'asc' } });
      return rows.map(({ state }: { state: string }) => state);
    }) as Promise<string[]>;
  /** Makes the attempts of mails older than they are: an hour later, the rate allows others. */
  const later = (milliseconds: number) =>
    stage.host.run(async (strapi, time) => {
      const rows = await strapi.db.query('plugin::apps.mail').findMany({ where: { triedAt: { $notNull: true } } });
      for (const { id, triedAt } of rows)
        await strapi.db.query('plugin::apps.mail').update({ where: { id }, data: { triedAt: Number(triedAt) - time } });
    }, milliseconds);
  /** Mails of the app that this or another process has sent just now. */
  const alreadySent = (count: number) =>
    stage.host.run(async (strapi, rows) => {
      const now = Date.now();
      const row = { site: 'site', app: 'mails', block: '', mails: 1, recipients: 'x', subject: 'x' };
      for (let at = 0; at < rows; at += 1)
        await strapi.db.query('plugin::apps.mail').create({
          data: { ...row, mailId: `earlier-${at}`, state: 'sent', attempts: 1, triedAt: now, dueAt: now },
        });
    }, count);
  const mails = async (): Promise<AppMails> =>
    (await stage.send<AppDetail>({ as: 'root', send: 'GET /apps/sites/site/apps/mails' })).json.mails;

  describe('mails of forms over the rate of their app', () => {
    beforeAll(async () => {
      await stage.host.run((strapi) => {
        strapi.plugin('email').service('email').send = async (mail: Sent) => {
          (globalThis as Box).rated.push(mail);
        };
      });
    });
    beforeEach(async () => {
      await stage.host.run(async (strapi) => {
        (globalThis as Box).rated = [];
        await strapi.db.query('plugin::apps.mail').deleteMany({});
      });
    });

    test('wait, and become one mail with the link to each record', async () => {
      const names = times(120).map((at) => `<b>Visitor</b> ${at}`);
      await forms('contact', names);
      await expect.poll(states).toEqual([...Array(100).fill('sent'), 'waiting']);
      expect(await sent()).toHaveLength(100);
      const { next, ...state } = await mails();
      expect(state).toEqual({ waiting: 20, tried: 100, kept: 0 });
      expect(Date.parse(String(next)) - Date.now()).toBeGreaterThan(HOUR - 5 * 60_000);

      await later(HOUR);
      // The process that sends the next mail of the app sends what waits first.
      await form('contact', 'The next one');
      await expect.poll(async () => (await sent()).length).toBe(102);
      const [digest, single] = (await sent()).slice(100) as [Sent, Sent];
      expect(single.subject).toContain('The next one');
      expect(digest).toMatchObject({ to: 'office@example.org', subject: '20 new or changed records: mails/contact' });
      expect(digest).not.toHaveProperty('replyTo');
      const links = [...digest.text.matchAll(/^- Message of (.+): (\S+)\n {2}(http\S+)$/gm)];
      expect(links).toHaveLength(20);
      for (const [, , id, url] of links) expect(url).toBe(`${stage.host.url}/site/@@apps/mails/record/${id}`);
      for (const [, name] of links)
        expect(digest.html).toContain(`Message of ${name?.replaceAll('<', '&lt;').replaceAll('>', '&gt;')}: `);
      expect(digest.html).not.toContain('<b>');
      // What the fields of other records have is in none of them.
      expect(digest.text).not.toContain('me@example.com');
      const told = [...(await sent()).slice(0, 100).map(({ subject }) => subject), digest.text].join('\n');
      for (const name of names) expect(told).toContain(`Message of ${name}:`);
      expect(await mails()).toEqual({ waiting: 0, tried: 2, next: null, kept: 0 });
    });

    test('of one form do not hold back those of others, nor count when their request fails', async () => {
      await stage.send({ send: 'POST mails/blocks/contact', accept: html, form: { name: 'undone', _save: '' } });
      expect(await states()).toEqual([]);
      await alreadySent(95);
      await forms(
        'contact',
        times(10).map((at) => `Flood ${at}`),
      );
      await form('broken', 'honest');
      await expect.poll(states).toEqual([...Array(100).fill('sent'), 'waiting', 'waiting']);
      // Logic learns it at once.
      const message = { to: 'owner@example.org', subject: 'Hello', text: 'A text' };
      const refused = await stage.send({ send: 'POST mails/blocks/script/caught', json: message });
      expect(refused.json).toEqual(['RateLimitError', expect.stringContaining('100 mails in an hour')]);

      await later(HOUR);
      await forms(
        'contact',
        times(20).map((at) => `Flood again ${at}`),
      );
      await expect.poll(async () => (await sent()).length).toBe(27);
      const subjects = (await sent()).slice(5, 8).map(({ subject }) => subject);
      expect(subjects).toContain('Broken');
    });
  });
}
