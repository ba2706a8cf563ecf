import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Host } from '../../support/host';
import { type Answer, send } from '../../support/send';
import { html, type Stage } from '../../support/stage';
import { formBody, pdf, png } from './send';

const definition = `
elements:
  title: { type: TEXT, index_type: field }
  cv: { type: FILE, public: true }
  more: { type: REPEAT, elements: { photo: { type: IMAGE, public: true } } }
  seen: BASIC
  from: { type: REFERENCE, app: shown, block: letter, text: title }
notify: { to: desk@example.org, subject: 'A letter', block: letter }
`;

/** An app that shows files in every way: files of a theme by path. */
export const shownApp: Record<string, string> = {
  'apps/shown/settings.yaml': "acl:\n  rights:\n    editor: ['*']\nmail: { to: [desk@example.org] }\n",
  'apps/shown/blocks/letter.yaml': definition,
  'apps/shown/blocks/letter.html':
    '{title}{cv}{more}{seen}{from} [{{ context.record.cv.url }}] {% if context.mode == "text" %}[{from.cv.url}]{% endif %}{_save}{_edit}',
  'apps/shown/blocks/letter.js': 'export const seen = ({ record }) => `(${record?.get("cv")?.url})`;\n',
  'apps/shown/blocks/list.yaml': 'elements: { all: BASIC }\ncache: 60\n',
  'apps/shown/blocks/list.html': '{all}',
  'apps/shown/blocks/list.js': `export const all = ({ app }) =>
  app.search("title == 'A'").map((record) => record.get('cv').url).join(' ');
`,
  'apps/shown/blocks/list_py.yaml': 'elements: { all: BASIC }\n',
  'apps/shown/blocks/list_py.py': `def all(context):
    return ' '.join(record.get('cv')['url'] for record in context.app.records())
`,
};

type Box = typeof globalThis & { mails: { html: string; text: string }[]; statements: string[]; signatures: number };

/**
 * Addresses of files, whole wherever they are shown.
 * @param twin the process that shows them: one on the stage's database, or its own
 * @param publicUrl the public address of that process
 */
export function fileAddresses(stage: Stage, twin: Host, publicUrl: () => string): void {
  let port = 0;
  const ask = <T = unknown>(method: string, path: string, more: object = {}): Promise<Answer<T>> =>
    send<T>(`http://127.0.0.1:${port}`, { method, path: `/site/@@apps/shown${path}`, ...more } as never);
  const json = { accept: 'application/json' };
  const page = { accept: html };

  const save = async (title: string, from = '') => {
    const parts = [
      { name: 'title', content: title },
      { name: 'cv', file: 'My CV.pdf', content: pdf },
      { name: 'more:0:photo', file: 'me.png', content: png },
      { name: 'from', content: from },
      { name: '_save', content: '1' },
    ];
    const token = String((await ask('GET', '', { headers: json })).headers['x-csrf-token']);
    const headers = { ...json, 'content-type': 'multipart/form-data; boundary=b', 'x-csrf-token': token };
    const saved = await ask<{ id: string }>('POST', '/blocks/letter', { headers, body: formBody(parts) });
    expect(saved.status, saved.text).toBe(201);
    return saved.json.id;
  };

  /** Everything that shows the file of a record, by its name, as text. */
  const places = async (id: string, other: string): Promise<Record<string, string>> => {
    const text = async (path: string, headers: object = json, method = 'GET', body?: object) => {
      const answer = await ask(method, path, { headers, ...(body ? { json: body } : {}) });
      expect(answer.status, `${path}: ${answer.text}`).toBe(200);
      return answer.text;
    };
    const token = String((await ask('GET', '', { headers: json })).headers['x-csrf-token']);
    return {
      record: await text(`/record/${id}`),
      list: await text('/records'),
      page: await text('/records?limit=5'),
      lines: await text('/records', { accept: 'application/x-ndjson' }),
      table: await text('/records.csv'),
      search: await text('/search', { ...json, 'x-csrf-token': token }, 'POST', { query: "title == 'A'" }),
      html: await text(`/record/${id}`, page),
      edit: await text(`/record/${id}/edit`, page),
      reference: await text(`/record/${other}`, page),
      javascript: await text('/blocks/list', page),
      python: await text('/blocks/list_py/all'),
    };
  };
  const fileOf = (id: string) =>
    twin.run(async (strapi, recordId) => {
      const [row] = await strapi.db.query('plugin::apps.record').findMany({ where: { identifier: recordId } });
      const items = typeof row.items === 'string' ? JSON.parse(row.items) : row.items;
      return items.cv as { documentId: string; url: string };
    }, id);
  const move = (documentId: string, url: string) =>
    twin.run(
      async (strapi, where, data) => {
        await strapi.db.query('plugin::upload.file').updateMany({ where, data });
      },
      { documentId },
      { url },
    );

  describe('addresses of files', () => {
    let first = '';
    let second = '';
    let stored = { documentId: '', url: '' };
    beforeAll(async () => {
      port = await twin.run((strapi) => {
        const box = globalThis as Box;
        Object.assign(box, { mails: [], statements: [], signatures: 0 });
        strapi.plugin('email').service('email').send = async (mail: never) => void box.mails.push(mail);
        strapi.db.connection.on('query', ({ sql }: { sql: string }) => {
          if (/from ("public"\.)?[`"]files[`"]/.test(sql)) box.statements.push(sql);
        });
        return (strapi.server.httpServer.address() as { port: number }).port;
      });
      first = await save('A');
      second = await save('B', first);
      stored = await fileOf(first);
    });
    beforeEach(() => move(stored.documentId, stored.url));

    test('are whole everywhere, also in mails, below a path', async () => {
      expect(stored.url).toMatch(/^\/uploads\//);
      for (const [place, text] of Object.entries(await places(first, second))) {
        expect(text, place).toContain(`${publicUrl()}${stored.url}`);
        expect(text.replaceAll(`${publicUrl()}/uploads/`, ''), place).not.toContain('/uploads/');
      }
      const mails = () => twin.run(() => (globalThis as Box).mails);
      await expect.poll(async () => (await mails()).length).toBe(2);
      const [{ html: mail = '' } = {}] = await mails();
      expect(mail).toContain(`href="${publicUrl()}${stored.url}"`);
      expect(mail).toMatch(new RegExp(`<img [^>]*src="${publicUrl()}/uploads/me_[^"]+"`));
    });

    test('are those that the media library has now, though no record was changed', async () => {
      const { headers } = await ask('GET', `/record/${first}`, { headers: json });
      await move(stored.documentId, 'https://cdn.example/moved.pdf');
      const found = await places(first, second);
      delete found.javascript;
      for (const [place, text] of Object.entries(found)) {
        expect(text, place).toContain('https://cdn.example/moved.pdf');
        expect(text, place).not.toContain(stored.url);
      }
      const again = await ask('GET', `/record/${first}`, { headers: { ...json, 'if-none-match': headers.etag } });
      expect([again.status, again.headers.etag]).toEqual([200, headers.etag]);
      expect(await fileOf(first)).toEqual(stored);
    });

    test('are looked up once for a list, once for a page, and not for records without files', async () => {
      const counted = async (path: string, headers: object) => {
        await twin.run(() => {
          (globalThis as Box).statements = [];
        });
        await ask('GET', path, { headers });
        return (await twin.run(() => (globalThis as Box).statements)).length;
      };
      const costs = [
        await counted('/records', json),
        await counted('/records.csv', json),
        await counted(`/record/${first}`, page),
        await counted('/blocks/list_py/all', json),
      ];
      // A table is read twice: for its columns, and for its rows.
      expect(costs).toEqual([1, 2, 1, 1]);
      await stage.put('open', 'plain', { title: 'no file' });
      expect(await counted('/../open/record/plain', json)).toBe(0);
    });

    test('are signed where the provider signs, for files of the app only, and such a page is not kept', async () => {
      const foreign = { ...stored, name: 'f', mime: 'a/b', size: 1, documentId: 'foreign', url: '/uploads/f.pdf' };
      await stage.put('shown', 'thief', { title: 'T', cv: foreign }, 'mona');
      await twin.run(async (strapi) => {
        const data = {
          documentId: 'foreign',
          name: 'f',
          hash: 'f',
          url: '/f',
          mime: 'a/b',
          size: 1,
          provider: 'local',
        };
        await strapi.db.query('plugin::upload.file').create({ data });
        const box = globalThis as Box;
        const { provider } = strapi.plugin('upload') as unknown as { provider: object };
        Object.assign(provider, {
          isPrivate: async () => true,
          getSignedUrl: async ({ hash }: { hash: string }) => {
            box.signatures += 1;
            return { url: `https://signed.example/${hash}?signature=${box.signatures}` };
          },
        });
      });
      try {
        for (const [place, text] of Object.entries({
          ...(await places(first, second)),
          javascript: 'https://signed.',
        })) {
          expect(text, place).toContain('https://signed.');
          expect(text, place).not.toContain(stored.url);
        }
        expect((await ask('GET', '/record/thief', { headers: json })).text).toContain(`"${publicUrl()}/f"`);
        const query = '/blocks/list?fresh=1';
        const [one, two] = [await ask('GET', query, { headers: page }), await ask('GET', query, { headers: page })];
        expect(one.text).toContain('https://signed.example/');
        expect(two.text).not.toBe(one.text);
      } finally {
        await twin.run(async (strapi) => {
          const { provider } = strapi.plugin('upload') as unknown as { provider: object };
          Object.assign(provider, { isPrivate: () => false });
          await strapi.db.query('plugin::upload.file').deleteMany({ where: { documentId: 'foreign' } });
        });
        await stage.send({ as: 'mona', send: 'DELETE shown/record/thief' });
      }
    });

    test("are in the panel's lists and tables, and what the panel sends back changes nothing", async () => {
      const address = '/apps/sites/site/apps/shown';
      await move(stored.documentId, '/uploads/panel.pdf');
      const url = `${stage.host.url}/uploads/panel.pdf`;
      const list = await stage.send({ as: 'clerk', send: `GET ${address}/records` });
      expect(list.text).toContain(`"${url}"`);
      const table = await stage.send({ as: 'clerk', send: `GET ${address}/records/export?format=csv` });
      expect([table.status, table.text.includes(url)]).toEqual([200, true]);
      const one = { as: 'clerk', send: `GET ${address}/record?id=${first}` };
      const { items, version } = (await stage.send<{ items: { cv: { url: string } }; version: string }>(one)).json;
      expect(items.cv.url).toBe(url);
      const json = { items: { ...items, title: 'A' }, version };
      expect((await stage.send({ as: 'clerk', send: `PUT ${address}/record?id=${first}`, json })).status).toBe(200);
      expect(await fileOf(first)).toEqual(stored);
    });
  });
}
