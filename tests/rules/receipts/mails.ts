import { expect } from 'vitest';
import { formBody, pdf } from '../../forms/files/send';
import type { RowRequest, Stage } from '../../support/stage';
import { within } from '../../support/time';

/** A mail as Strapi's email plugin gets it. */
export interface Sent {
  to: string;
  subject: string;
  text?: string;
  html?: string;
  headers?: Record<string, string>;
  attachments?: { filename: string; content: string; contentType: string }[];
}

type Box = typeof globalThis & { mails: Sent[] };

export type Mails = ReturnType<typeof setUp>;

/** Mails and webhooks of the app `events`, with a provider that only remembers mails. */
export function setUp(stage: Stage) {
  type More = Partial<RowRequest>;
  const ask = (send: string, more: More = {}) => stage.send<Record<string, unknown>>({ send, ...more });
  const all = () => stage.host.run(() => (globalThis as Box).mails);
  const to = async (address: string) => (await all()).filter((mail) => mail.to === address);
  return {
    ask,
    all,
    to,
    catchAll: () =>
      stage.host.run((strapi) => {
        const box = globalThis as Box;
        box.mails = [];
        strapi.plugin('email').service('email').send = async (mail: Sent) => {
          box.mails.push(mail);
        };
      }),
    /** Deletes records, mails, webhooks, and what was counted. */
    async forget(): Promise<void> {
      await ask('DELETE events/records', { as: 'mona' });
      await stage.host.run(async (strapi) => {
        (globalThis as Box).mails = [];
        for (const table of ['apps_mails', 'apps_form_posts', 'apps_jobs', 'apps_mail_refusals'])
          await strapi.db.connection(table).delete();
      });
    },
    /** The last mail to an address, once it is sent. */
    async mailTo(address: string): Promise<Sent> {
      // Also in a hook, where there is no expect.poll().
      const sent = await within(
        20_000,
        () => to(address),
        ({ length }) => length > 0,
      );
      expect(sent).not.toEqual([]);
      return sent.at(-1) as Sent;
    },
    tokenIn: ({ text = '' }: Sent) => /\/confirm\/([\w-]{65})(?![\w-])/.exec(text)?.[1] ?? 'none',
    /** Saves a form of a visitor. */
    async make(block: string, items: object, app = 'events') {
      const { status, json } = await ask(`POST ${app}/blocks/${block}`, { json: { ...items, _save: '1' } });
      expect([status, json]).toMatchObject([201, {}]);
      return { id: String(json.id), link: String(json.link ?? ''), answer: json };
    },
    withFile: (items: Record<string, string>): More => ({
      body: formBody([
        ...Object.entries(items).map(([name, content]) => ({ name, content })),
        { name: 'cv', file: 'a.pdf', content: pdf },
        { name: '_save', content: '1' },
      ]),
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
    }),
    /** The events of webhooks that are to be delivered, the oldest first. */
    hooks: () =>
      stage.host.run(async (strapi) => {
        const rows: { data: string | { event: string } }[] = await strapi.db
          .connection('apps_jobs')
          .where({ kind: 'webhook' })
          .orderBy('id');
        return rows.map(({ data }) => (typeof data === 'string' ? JSON.parse(data) : data).event as string);
      }),
    /** Makes an unconfirmed record older. */
    age: (id: string, seconds: number) =>
      stage.host.run(
        async (strapi, record, milliseconds) => {
          const rows = strapi.db.connection('apps_records').where({ identifier: record });
          const [row] = (await rows.clone().select('items')) as { items: string | Record<string, unknown> }[];
          const items = typeof row?.items === 'string' ? JSON.parse(row.items) : row?.items;
          const since = new Date(Date.parse(items._since) - (milliseconds as number)).toISOString();
          await rows.clone().update({ items: JSON.stringify({ ...items, _since: since }) });
        },
        id,
        seconds * 1_000,
      ),
    /** Makes what was counted older. */
    laterBy: (seconds: number) =>
      stage.host.run(async (strapi, milliseconds) => {
        await strapi.db.connection('apps_form_posts').decrement('ends_at', milliseconds as number);
      }, seconds * 1_000),
  };
}
