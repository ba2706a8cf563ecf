import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { beforeAll, describe, expect, test } from 'vitest';
import { configured } from '../support/configure';
import { availableClients } from '../support/databases';
import { useDatabase, useStage, useThemes } from '../support/hooks';
import { locationOf } from '../support/send';
import { html, type RowRequest } from '../support/stage';
import { timeForMore } from '../support/time';
import { formBody, pdf } from './files/send';
import { ownLinkBrowsers } from './visitors/own-link-browsers';

const blocks: Record<string, string> = {
  answer:
    'self_service: [view, edit, delete]\nelements:\n  name: { type: TEXT, label: Your name, required: true, maxlength: 20 }\n  mail: { type: EMAIL, label: Your mail, unique: true }\n  doc: { type: FILE, label: A document }\n  hidden: TEXT\n  mark: ACTION',
  filed:
    'self_service: [edit]\nelements:\n  name: { type: TEXT, required: true }\n  doc: { type: FILE, required: true }\n  n: NUMBER\n  parts: { type: REPEAT, elements: { title: TEXT, scan: FILE } }\n  rows: { type: REPEAT, elements: { kind: { type: SELECT, options: [a] } } }',
  look: 'self_service: [view]\nelements: { name: TEXT }',
  later: 'self_service: { allow: [edit, delete], until: 1 minute }\nelements: { name: TEXT }',
  closing: 'self_service: [edit, delete]\ncloses: 2001-01-01\nelements: { name: TEXT }',
  stated: 'self_service: { allow: [edit], until: 7 days }\ncloses: 2999-01-01\nelements: { name: TEXT }',
  members: 'self_service: [edit]\nview_permission: [editors]\nelements: { name: TEXT }',
  mailed:
    'self_service: [edit]\nnotify: { to: "{mail}", subject: "Thanks, {name}: {link}", block: told }\nelements: { name: TEXT, mail: EMAIL }',
  paged:
    'self_service: { allow: [edit, delete], until: 7 days }\npages:\n  - { title: One, elements: [name] }\n  - { title: Two, elements: [mail] }\nelements: { name: { type: TEXT, required: true }, mail: EMAIL }',
  told: 'elements: { name: TEXT }',
  twin: 'self_service: [view]\nelements: { name: TEXT }',
  plain: 'elements: { name: TEXT, make: ACTION }',
};

const layouts: Record<string, string> = {
  answer: '<h1>Answer</h1>{name} {mail} {doc} {_save} {_delete} {mark}',
  mailed: '{name} {mail} {_save}',
  paged: '{_pages}',
  filed: '{name} {doc} {n} {parts} {rows} {_save}',
  told: '<p>{name}: <a href="{link}">{link}</a></p>',
};

const logic = `
export function validate(context) {
  if (context.request.form.name === 'refused') context.invalid('name', 'Logic refuses this');
}
export function on_save(context) {
  if (context.record.name === 'said') context.flash('Your link is {link}');
  context.record.url_seen = context.request.url + ' ' + context.request.path;
  if (context.record.name === 'led') return context.app.url + '/blocks/plain';
}
export function mark(context) { context.record.marked = 'yes'; }
export function on_delete(context) { context.app.create_record('gone-' + context.record.name).name = 'on_delete ran'; }
`;

/** A record with the id of one of another app, whose state it changes. */
const twin = `
export const record_id = ({ request }) => request.form.name;
export const on_save = ({ get_app, record }) => { get_app('other').get_record(record.id).state = 'done'; };
`;
const stated =
  'self_service: [view]\nstates:\n  new: { to: [done] }\n  done: { notify: { to: "{mail}", subject: "Done: {link}" } }\nelements: { mail: EMAIL }\n';

const TOKEN = /\/mine\/([\w-]{65})(?![\w-])/;

describe.each(await availableClients())('own records by links on %s', (client) => {
  const themes = useThemes(async (copy) => {
    for (const app of ['own', 'other'])
      await copy.write(
        `main/apps/${app}/settings.yaml`,
        "acl: { rights: { submitter: ['*'], editor: ['editors'] } }\nmail: { to: ['*@example.org'] }\nhistory: true\n",
      );
    for (const [id, text] of Object.entries(blocks)) {
      await copy.write(`main/apps/own/blocks/${id}.yaml`, `${text}\n`);
      await copy.write(`main/apps/own/blocks/${id}.html`, layouts[id] ?? '{name} {_save}');
    }
    await copy.write('main/apps/own/blocks/answer.js', logic);
    await copy.write('main/apps/own/blocks/twin.js', twin);
    await copy.write('main/apps/other/blocks/stated.yaml', stated);
    await copy.write('main/apps/other/blocks/stated.html', '{mail} {_save}');
    await copy.write('main/apps/other/blocks/answer.yaml', `${blocks.answer}\n`);
    await copy.write('main/apps/other/blocks/answer.html', layouts.answer as string);
  });
  const database = useDatabase(client);
  const stage = useStage(() => ({
    themesDirectory: themes.directory,
    env: { ...database().address.env, ...configured({ referrerPolicy: 'same-origin' }), TZ: 'UTC' },
  }));

  type Sent = Partial<RowRequest>;
  const ask = (send: string, more: Sent = {}) => stage.send<Record<string, unknown>>({ send, ...more });
  const make = async (block: string, items: object, app = 'own') => {
    const { status, json } = await ask(`POST ${app}/blocks/${block}`, { json: { ...items, _save: '1' } });
    expect(status).toBe(201);
    const link = String(json.link ?? '');
    return { id: String(json.id), link, token: TOKEN.exec(link)?.[1] ?? '' };
  };
  const mine = (token: string) => `own/mine/${token}`;
  const age = (id: string, seconds: number) =>
    stage.host.run(
      async (strapi, record, milliseconds) => {
        const rows = strapi.db.connection('apps_links').where({ identifier: record });
        await rows.decrement('made_at', milliseconds as number);
      },
      id,
      seconds * 1_000,
    );

  test('the browser that has opened a link gets the files of its record, and of no other', async () => {
    const withFile = async (name: string) => {
      const parts = [
        { name: 'name', content: name },
        { name: 'mail', content: `${name}@files.example.org` },
        { name: 'doc', file: 'a.pdf', content: pdf },
        { name: '_save', content: '1' },
      ];
      const headers = { 'content-type': 'multipart/form-data; boundary=b' };
      const { json } = await ask('POST own/blocks/answer', { body: formBody(parts), headers });
      const { doc } = (await stage.items('own', String(json.id))) as { doc: { documentId: string } };
      const token = TOKEN.exec(String(json.link))?.[1] ?? '';
      return { token, file: `/site/@@apps/own/files/${doc.documentId}/a.pdf` };
    };
    const [first, second] = [await withFile('first'), await withFile('second')];
    const status = async (file: string, cookie = '') =>
      (await ask(`GET ${file}`, { accept: '*/*', headers: { cookie } })).status;
    const open = async (token: string, cookie = '') => {
      const { headers } = await ask(`GET ${mine(token)}`, { accept: html, headers: { cookie } });
      const [set = ''] = (headers['set-cookie'] ?? []).filter((one) => one.startsWith('apps_opened='));
      expect(set).toMatch(/; Path=\/site\/@@apps\/own\/; HttpOnly; SameSite=Lax$/);
      return set.split(';')[0] as string;
    };
    expect(await status(first.file)).toBe(404);
    const one = await open(first.token);
    expect([await status(first.file, one), await status(second.file, one)]).toEqual([200, 404]);
    const both = await open(second.token, one);
    expect([await status(first.file, both), await status(second.file, both)]).toEqual([200, 200]);
    expect(await status(first.file, `apps_opened=${second.token}`)).toBe(404);
    expect(await status(first.file, 'apps_opened=forged.__proto__')).toBe(404);
    // The token of another app's link, and one that was revoked.
    const { token } = await make('answer', { name: 'Other', mail: 'other@files.example.org' }, 'other');
    expect(await status(first.file, `apps_opened=${token}`)).toBe(404);
    await ask(`POST ${mine(first.token)}`, { accept: html, form: { _revoke: 'yes' } });
    expect([await status(first.file, both), await status(second.file, both)]).toEqual([404, 200]);
  });

  test('JSON changes the fields that it names; files, groups with files and values of another type stay', async () => {
    const parts = [
      { name: 'name', content: 'Files' },
      { name: 'doc', file: 'a.pdf', content: pdf },
      { name: 'parts:0:title', content: 'first' },
      { name: 'parts:0:scan', file: 'b.pdf', content: pdf },
      { name: '_save', content: '1' },
    ];
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    const { status, json } = await ask('POST own/blocks/filed', { body: formBody(parts), headers });
    expect(status).toBe(201);
    const id = String(json.id);
    const token = TOKEN.exec(String(json.link))?.[1] ?? '';
    type Filed = { doc: object; parts: { title: string; scan: object }[] };
    const before = (await stage.items('own', id)) as unknown as Filed;
    expect(before).toMatchObject({ doc: { name: 'a.pdf' }, parts: [{ title: 'first', scan: { name: 'b.pdf' } }] });
    // From before the element was a number, and the choice had other options.
    const old = { n: { odd: true }, rows: [{ kind: 'b', gone: 'a field of before' }, { kind: 'a' }] };
    await stage.host.run(
      async (strapi, record, set) => {
        const store = strapi.plugin('apps').service('records').store();
        const unit = (one: { update(...of: unknown[]): Promise<unknown> }) =>
          one.update({ site: 'site', app: 'own' }, record, { set });
        await store.transact(unit);
      },
      id,
      old,
    );
    const change = (items: object) => ask(`PATCH ${mine(token)}`, { json: items });
    expect(await change({ name: 'Renamed' })).toMatchObject({ status: 200 });
    expect(await stage.items('own', id)).toMatchObject({ ...before, name: 'Renamed', ...old });
    expect(await change({ doc: before.doc, parts: [{ ...before.parts[0], title: 'second' }] })).toMatchObject({
      status: 200,
    });
    expect(await stage.items('own', id)).toMatchObject({ doc: before.doc, parts: [{ title: 'second' }] });
    const refused = await change({ n: { odd: true }, doc: { documentId: 'abc' } });
    expect(refused).toMatchObject({
      status: 422,
      json: { error: { details: { errors: [{ path: ['doc'] }, { path: ['n'] }] } } },
    });
    expect(await change({ doc: null })).toMatchObject({ status: 422 });
    expect(await change({ rows: old.rows })).toMatchObject({
      status: 422,
      json: { error: { details: { errors: [{ path: ['rows', '0', 'kind'] }] } } },
    });
    expect(await change({ n: 4 })).toMatchObject({ status: 200 });
    expect(await stage.items('own', id)).toMatchObject({ doc: before.doc, n: 4 });
  });

  test('the buttons below a form stay on each of its pages, and where it is refused; moments have no seconds', async () => {
    const { token } = await make('paged', { name: 'Paula', mail: 'paula@example.org' });
    const at = { _page: '0', _seen: '0' };
    const answers: [form: Record<string, string>, status: number][] = [
      [{ name: 'Paula', ...at, _next: '1' }, 200],
      [{ name: 'Paula', mail: '', _page: '1', _seen: '0,1', _back: '1' }, 200],
      [{ name: '', ...at, _next: '1' }, 422],
      [{ name: 'Paula', mail: 'none', _page: '1', _seen: '0,1', _save: '1' }, 422],
    ];
    for (const [given, status] of answers) {
      const { status: found, text } = await ask(`POST ${mine(token)}`, { accept: html, form: given });
      const count = (button: string) => text.split(`name="${button}"`).length - 1;
      expect([given, found, count('_withdraw'), count('_revoke')]).toEqual([given, status, 1, 1]);
      expect(text).toMatch(/You can change this until [^<:]*\d:\d\d[^:<]*</);
      // The script puts the form alone into the page, below which they are.
      const alone = await ask(`POST ${mine(token)}`, { accept: 'text/html+fragment', form: given });
      expect([alone.status, alone.text.includes('_withdraw')]).toEqual([status, false]);
    }
  });

  test('the link opens the own answer, changes it by the rules of its form, and withdraws it', async () => {
    const { id, token, link } = await make('answer', { name: 'Anna', mail: 'anna@example.org' });
    expect(link).toBe(`${stage.host.url}/site/@@apps/own/mine/${token}`);
    expect((await ask(`GET own/record/${id}`)).status).toBe(401);
    const read = await ask(`GET ${mine(token)}`);
    expect([read.status, read.json]).toEqual([200, { id, name: 'Anna', mail: 'anna@example.org', doc: null }]);
    expect(read.headers['referrer-policy']).toBe('no-referrer');
    expect(read.headers['cache-control']).toBe('private, no-store');
    expect(read.headers['x-robots-tag']).toBe('noindex, nofollow');
    const page = await ask(`GET ${mine(token)}`, { accept: html });
    expect(page.status).toBe(200);
    expect(page.text).toContain('value="Anna"');
    expect(page.text).toContain(`action="${link}"`);
    expect(page.text).toContain('name="_withdraw"');
    expect(page.text).not.toContain('rel="canonical"');
    expect((await ask(`PATCH ${mine(token)}`, { json: { name: 'Berta' } })).json).toEqual({ success: 'updated' });
    expect((await ask(`GET own/history/${id}`, { as: 'mona' })).json).toMatchObject([
      { through: 'self_service', by: null, items: { name: 'Berta' } },
      { through: 'json', by: null, items: { name: 'Anna' } },
    ]);
    expect((await ask(`PATCH ${mine(token)}`, { json: { name: 'x'.repeat(21) } })).status).toBe(422);
    expect((await ask(`POST ${mine(token)}`, { json: { name: '' } })).status).toBe(422);
    expect((await ask(`PATCH ${mine(token)}`, { json: { name: 'refused' } })).status).toBe(422);
    expect((await ask(`PATCH ${mine(token)}`, { json: { _state: 'waiting' } })).status).toBe(422);
    await make('answer', { name: 'C', mail: 'taken@example.org' });
    expect((await ask(`PATCH ${mine(token)}`, { json: { mail: 'Taken@example.org' } })).status).toBe(422);
    await ask(`PATCH ${mine(token)}`, { json: { hidden: 'x', block: 'plain', creator: 'me' } });
    expect(await stage.items('own', id)).toMatchObject({ block: 'answer', name: 'Berta', mail: 'anna@example.org' });
    expect(await stage.items('own', id)).not.toHaveProperty('hidden');
    const form = { name: 'Dora', mail: 'anna@example.org', _save: '' };
    const saved = await ask(`POST ${mine(token)}`, { accept: html, form });
    expect([saved.status, locationOf(saved).pathname]).toEqual([303, `/site/@@apps/own/mine/${token}`]);
    const refused = await ask(`POST ${mine(token)}`, { accept: html, form: { ...form, name: '' } });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain(`action="${link}"`);
    expect(await stage.items('own', id)).toMatchObject({ name: 'Dora' });
    const asked = await ask(`POST ${mine(token)}`, { accept: html, form: { _delete: '1' } });
    expect(asked.text).toContain('name="_withdraw" value="yes"');
    expect((await stage.items('own', id))?.name).toBe('Dora');
    expect((await ask(`POST ${mine(token)}`, { accept: html, form: { _withdraw: 'yes' } })).status).toBe(303);
    expect(await stage.items('own', id)).toBeNull();
    expect((await stage.items('own', 'gone-Dora'))?.name).toBe('on_delete ran');
    expect((await ask(`GET ${mine(token)}`)).status).toBe(404);
  });

  test('a record of the same id that was made while a form is sent is another one', async () => {
    const { id, token } = await make('answer', { name: 'First', mail: 'first@same.example.org' });
    const sent = request(`${stage.host.url}/site/@@apps/${mine(token)}`, {
      method: 'POST',
      headers: {
        accept: html,
        'content-type': 'multipart/form-data; boundary=b',
        'x-csrf-token': await stage.csrf('anonymous'),
      },
    });
    sent.write('--b\r\n');
    await timeForMore();
    await ask(`DELETE own/record/${id}`, { as: 'mona' });
    await stage.put('own', id, { block: 'answer', name: 'Later', mail: 'later@same.example.org' });
    const fields = [
      { name: 'name', content: 'Changed' },
      { name: '_save', content: '1' },
    ];
    sent.end(formBody(fields).subarray('--b\r\n'.length));
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    answer.resume();
    expect(answer.statusCode).toBe(404);
    expect(await stage.items('own', id)).toMatchObject({ name: 'Later' });
  });

  test('DELETE withdraws where the link allows that, and else ends the link alone', async () => {
    const one = await make('answer', { name: 'E' });
    expect((await ask(`DELETE ${mine(one.token)}`)).json).toEqual({ success: 'deleted' });
    expect(await stage.items('own', one.id)).toBeNull();
    const two = await make('look', { name: 'F' });
    expect((await ask(`PATCH ${mine(two.token)}`, { json: { name: 'G' } })).status).toBe(401);
    expect((await ask(`POST ${mine(two.token)}`, { accept: html, form: { _withdraw: 'yes' } })).status).toBe(401);
    expect((await ask(`DELETE ${mine(two.token)}`)).json).toEqual({ success: 'revoked' });
    expect((await ask(`GET ${mine(two.token)}`)).status).toBe(404);
    expect((await stage.items('own', two.id))?.name).toBe('F');
    const three = await make('look', { name: 'H' });
    const ends = (value: string) => ask(`POST ${mine(three.token)}`, { accept: html, form: { _revoke: value } });
    expect((await ends('ask')).text).toContain('name="_revoke" value="yes"');
    expect((await ask(`GET ${mine(three.token)}`)).status).toBe(200);
    expect((await ends('yes')).status).toBe(200);
    expect((await ask(`GET ${mine(three.token)}`)).status).toBe(404);
  });

  test('after its time a link shows the answer only', async () => {
    const { id, token } = await make('later', { name: 'I' });
    expect((await ask(`PATCH ${mine(token)}`, { json: { name: 'J' } })).status).toBe(200);
    expect((await ask(`GET ${mine(token)}`, { accept: html })).text).toContain('You can change this until');
    await age(id, 61);
    const page = (await ask(`GET ${mine(token)}`, { accept: html })).text;
    expect(page).toContain('This can no longer be changed.');
    expect(page).not.toContain('name="name"');
    expect((await ask(`PATCH ${mine(token)}`, { json: { name: 'K' } })).status).toBe(401);
    expect((await ask(`POST ${mine(token)}`, { accept: html, form: { name: 'K', _save: '' } })).status).toBe(401);
    expect((await ask(`DELETE ${mine(token)}`)).json).toEqual({ success: 'revoked' });
    expect((await stage.items('own', id))?.name).toBe('J');
    await stage.keep('own', 'old', { block: 'closing', name: 'L' });
    const stated = await make('stated', { name: 'M' });
    expect((await ask(`PATCH ${mine(stated.token)}`, { json: { name: 'N' } })).status).toBe(200);
    await age(stated.id, 8 * 86_400);
    expect((await ask(`PATCH ${mine(stated.token)}`, { json: { name: 'O' } })).status).toBe(401);
  });

  test('the link is in messages, in mails and in JSON, and in no log', async () => {
    const form = { name: 'P', _save: '' };
    const saved = await ask('POST own/blocks/answer', { accept: html, form });
    expect(saved.status).toBe(303);
    const cookie = String(saved.headers['set-cookie']).split(';')[0] ?? '';
    const { pathname, search } = locationOf(saved);
    const thanks = await ask(`GET ${pathname}${search}`, { accept: html, headers: { cookie } });
    const [, shown = ''] = TOKEN.exec(thanks.text) ?? [];
    expect((await ask(`GET ${mine(shown)}`)).json).toMatchObject({ name: 'P' });
    const said = await ask('POST own/blocks/answer', { accept: html, form: { ...form, name: 'said' } });
    const next = locationOf(said);
    const own = await ask(`GET ${next.pathname}${next.search}`, {
      accept: html,
      headers: { cookie: String(said.headers['set-cookie']).split(';')[0] ?? '' },
    });
    expect(own.text).toMatch(/Your link is http\S+\/mine\/[\w-]{65} /);
    const led = await ask('POST own/blocks/answer', { accept: html, form: { ...form, name: 'led' } });
    expect(locationOf(led).pathname).toBe('/site/@@apps/own/blocks/plain');
    const leading = await ask('GET own/blocks/plain', {
      accept: html,
      headers: { cookie: String(led.headers['set-cookie']).split(';')[0] ?? '' },
    });
    expect(leading.text).toMatch(TOKEN);
    const created = await ask('POST own', { json: { block: 'answer', name: 'Q' } });
    expect(created.json.link).toMatch(TOKEN);
    expect((await ask('POST own', { json: { block: 'plain', name: 'R' } })).json).not.toHaveProperty('link');
    const { link, id } = await make('mailed', { name: 'S', mail: 's@example.org' });
    const [mail] = await stage.host.run((strapi) => strapi.db.query('plugin::apps.mail').findMany({ orderBy: 'id' }));
    expect([mail?.recipients, mail?.subject]).toEqual(['s@example.org', `Thanks, S: ${link}`]);
    const bodies = await stage.host.run(async (strapi) => {
      const sent = strapi.db.query('plugin::apps.mail');
      return (await sent.findMany({ orderBy: 'id' })).map(({ html: body }: { html: string | null }) => body);
    });
    // What was sent is not kept.
    expect(bodies.every((body: string | null) => body === null || body.includes(`<a href="${link}">${link}</a>`))).toBe(
      true,
    );
    const items = await stage.items('own', id);
    expect(items).toMatchObject({ name: 'S' });
    expect(link).not.toBe('');
    const token = TOKEN.exec(link)?.[1] ?? '';
    await ask(`PATCH ${mine(shown)}`, { json: { name: 'seen' } });
    const seen = (await ask('POST own/search', { as: 'mona', json: { query: '' } })).json as unknown as {
      items: { name: string; url_seen?: string };
    }[];
    const logged = seen.find(({ items }) => items.name === 'seen')?.items.url_seen ?? '';
    expect(logged).toContain('/mine/hidden');
    expect(logged).not.toContain(shown);
    const rows = JSON.stringify(await stage.host.run((strapi) => strapi.db.connection('apps_links').select()));
    expect(rows).not.toContain(token);
    expect(rows).not.toContain(token.slice(22));
    expect(rows).toContain(token.slice(0, 22));
    await ask(`GET /site/%40%40apps/own/mine/${token}`);
    await ask(`OPTIONS ${mine(token)}`);
    await ask(`PATCH ${mine(token)}`, { body: '{', headers: { 'content-type': 'application/json' } });
    expect(stage.host.output()).not.toContain(token);
  });

  test('a mail about a record of another app has its link, not that of a record with the same id', async () => {
    const { id, link } = await make('stated', { mail: 'twin@example.org' }, 'other');
    const answer = await ask('POST own/blocks/twin', { as: 'eric', json: { name: id, _save: '1' } });
    expect([answer.status, answer.json.id]).toEqual([201, id]);
    const where = { recipients: 'twin@example.org' };
    const mails = await stage.host.run(
      (strapi, where) => strapi.db.query('plugin::apps.mail').findMany({ where }),
      where,
    );
    expect(mails.map(({ subject }: { subject: string }) => subject)).toEqual([`Done: ${link}`]);
  });

  test('the panel shows that there is a link, and ends it', async () => {
    const { id, token } = await make('answer', { name: 'T' });
    const at = '/apps/sites/site/apps/own/record';
    const seen = await ask(`GET ${at}?id=${id}`, { as: 'clerk' });
    const links = seen.json.links as { id: string; madeAt: string }[];
    expect(links).toHaveLength(1);
    expect(seen.text).not.toContain(token);
    const remove = `DELETE ${at}/link?id=${id}&link=${links[0]?.id}`;
    expect((await ask(`${remove}x`, { as: 'clerk' })).status).toBe(404);
    expect((await ask(remove, { as: 'overseer' })).status).toBe(403);
    expect((await ask(remove, { as: 'clerk' })).status).toBe(200);
    expect((await ask(`GET ${mine(token)}`)).status).toBe(404);
    expect((await ask(`GET ${at}?id=${id}`, { as: 'clerk' })).json.links).toEqual([]);
  });

  if (client === 'sqlite') ownLinkBrowsers(stage, 'own');

  describe('attacks', () => {
    let good: Awaited<ReturnType<typeof make>>;
    let second: Awaited<ReturnType<typeof make>>;
    let foreign: Awaited<ReturnType<typeof make>>;
    let revoked = '';
    let deleted = '';
    const tail = 'A'.repeat(43);
    const swap = (text: string, at: number) => text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1);

    beforeAll(async () => {
      good = await make('answer', { name: 'good' });
      second = await make('answer', { name: 'second' });
      foreign = await make('answer', { name: 'foreign' }, 'other');
      const one = await make('look', { name: 'revoked' });
      await ask(`DELETE ${mine(one.token)}`);
      revoked = one.token;
      const gone = await make('answer', { name: 'deleted' });
      await ask(`DELETE own/record/${gone.id}`, { as: 'mona' });
      await stage.put('own', gone.id, { block: 'answer', name: 'another of this id' });
      deleted = gone.token;
    });

    /** Tokens that lead nowhere, each by every method. */
    const tokens: [title: string, token: () => string][] = [
      ['a token that was revoked', () => revoked],
      ['the token of a deleted record, whose id another has now', () => deleted],
      ['the id of a link without its signature', () => good.token.slice(0, 22)],
      ['the id of a link with another signature', () => good.token.slice(0, 22) + tail],
      ['the id of a link with the signature of another', () => good.token.slice(0, 22) + second.token.slice(22)],
      ['a changed first character', () => swap(good.token, 0)],
      ['a changed character of the signature', () => swap(good.token, 30)],
      [
        'the last character with other unused bits',
        () => `${good.token.slice(0, 64)}${other(good.token[64] as string)}`,
      ],
      ['a token that is too long', () => `${good.token}A`],
      ['a token that is too short', () => good.token.slice(0, 64)],
      ['upper case', () => (good.token === good.token.toUpperCase() ? 'x' : good.token.toUpperCase())],
      ['the token of another app', () => foreign.token],
      ['the id of a record', () => good.id],
      ['a made-up token', () => 'x'.repeat(65)],
      ['the name of a table', () => 'apps_links'],
      ['a wildcard of SQL', () => `${'_'.repeat(22)}${tail}`],
      ['a very long token', () => 'x'.repeat(5_000)],
    ];
    /** Another character with the same four leading bits: base64url of 32 bytes ends with two bits that mean nothing. */
    const other = (character: string) => {
      const all = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
      const at = all.indexOf(character);
      return all[at % 4 === 3 ? at - 1 : at + 1] as string;
    };
    const requests: [title: string, method: string, more: Sent][] = [
      ['GET', 'GET', {}],
      ['a page', 'GET', { accept: html }],
      ['PATCH', 'PATCH', { json: { name: 'stolen' } }],
      ['DELETE', 'DELETE', {}],
      ['a form', 'POST', { accept: html, form: { name: 'stolen', _save: '' } }],
    ];

    test.each(tokens)('%s leads nowhere', async (_, token) => {
      const texts = new Set<string>();
      for (const [title, method, more] of requests) {
        const answer = await ask(`${method} ${mine(token())}`, more);
        expect([title, answer.status]).toEqual([title, 404]);
        if (title === 'GET') texts.add(String((answer.json.error as { message: string }).message));
      }
      expect([...texts]).toEqual(['There is nothing at this address']);
    });

    const strange: [title: string, request: () => [send: string, more?: Sent], status: number][] = [
      ['another address of the app', () => [`GET own/mine/${good.token}/edit`], 404],
      ['another purpose', () => [`GET own/confirm/${good.token}`], 404],
      ['no token', () => ['GET own/mine'], 404],
      ['an empty token', () => ['GET own/mine/'], 404],
      ['a slash in the token', () => [`GET own/mine/${good.token.slice(0, 20)}%2F${good.token.slice(20)}`], 404],
      ['a token with a null character', () => [`GET own/mine/${good.token}%00`], 404],
      ['a line break in the token', () => [`GET own/mine/${good.token}%0D%0ASet-Cookie:a=b`], 404],
      ['a token as the id of a record', () => [`GET own/record/${good.token}`], 401],
      ['the record of the token by its own address', () => [`GET own/record/${good.id}`], 401],
      ['a list with the token as its cursor', () => [`GET own/records?cursor=${good.token}`], 401],
      ['the token of this app in another one', () => [`GET other/mine/${good.token}`], 404],
      ['the token in another site', () => [`GET /intranet/@@apps/own/mine/${good.token}`], 404],
      ['PUT', () => [`PUT ${mine(good.token)}`, { json: { name: 'x' } }], 405],
      [
        'the id of another record in the body',
        () => [`PATCH ${mine(good.token)}`, { json: { id: second.id, name: 'ok' } }],
        200,
      ],
      [
        'a form of another origin without a token',
        () => [
          `POST ${mine(good.token)}`,
          {
            accept: html,
            csrf: false,
            form: { name: 'forged', _save: '' },
            headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
          },
        ],
        403,
      ],
      [
        'a form of the site without a token',
        () => [`POST ${mine(good.token)}`, { accept: html, csrf: false, form: { name: 'forged', _save: '' } }],
        403,
      ],
      [
        'a withdrawal without a token',
        () => [`POST ${mine(good.token)}`, { accept: html, csrf: false, form: { _withdraw: 'yes' } }],
        403,
      ],
      [
        'a form with a forged token',
        () => [
          `POST ${mine(good.token)}`,
          { accept: html, csrf: false, form: { name: 'forged', _save: '', _csrf: 'x.y.z' } },
        ],
        403,
      ],
      [
        'JSON of another origin',
        () => [
          `PATCH ${mine(good.token)}`,
          {
            csrf: false,
            json: { name: 'forged' },
            headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
          },
        ],
        403,
      ],
      [
        'DELETE of another origin',
        () => [`DELETE ${mine(good.token)}`, { csrf: false, headers: { origin: 'https://evil.example' } }],
        403,
      ],
      ['HEAD', () => [`HEAD ${mine(good.token)}`], 200],
      [
        'HEAD with a query that names a button',
        () => [`HEAD ${mine(good.token)}?_withdraw=yes&_save=1`, { accept: html }],
        200,
      ],
      [
        'GET with a query that names a button',
        () => [`GET ${mine(good.token)}?_withdraw=yes&_revoke=yes&_delete=1`, { accept: html }],
        200,
      ],
      [
        'GET with the query of a method override',
        () => [`GET ${mine(good.token)}?_method=DELETE`, { headers: { 'x-http-method-override': 'DELETE' } }],
        200,
      ],
      ['a change to another block', () => [`PATCH ${mine(good.token)}`, { json: { block: 'plain' } }], 200],
      [
        'prototype keys',
        () => [
          `PATCH ${mine(good.token)}`,
          { body: '{"__proto__":{"x":1},"constructor":1}', headers: { 'content-type': 'application/json' } },
        ],
        400,
      ],
      ['a list as the body', () => [`PATCH ${mine(good.token)}`, { json: [1] }], 400],
      [
        'a body that is no JSON',
        () => [`PATCH ${mine(good.token)}`, { body: '{', headers: { 'content-type': 'application/json' } }],
        400,
      ],
      [
        'a file of another record',
        () => [`PATCH ${mine(good.token)}`, { json: { doc: { documentId: 'abc', name: 'a.pdf' } } }],
        422,
      ],
      ['an unknown action', () => [`POST ${mine(good.token)}`, { accept: html, form: { 'action.none': '1' } }], 404],
      [
        'the cookie of another visitor',
        () => [`GET ${mine(good.token)}`, { headers: { cookie: 'apps_visitor=x.y' } }],
        200,
      ],
      ['the link of another as a logged-in user shows it alone', () => [`GET ${mine(good.token)}`, { as: 'una' }], 200],
    ];

    test.each(strange)('%s', async (_, request, status) => {
      const [send, more] = request();
      const answer = await ask(send, more);
      expect([answer.status, answer.text.slice(0, 300)]).toEqual([status, expect.anything()]);
      expect(await stage.items('own', good.id)).toMatchObject({
        block: 'answer',
        name: expect.stringMatching(/^(good|ok)$/),
      });
      expect((await stage.items('own', second.id))?.name).toBe('second');
    });

    test('a request whose answer is kept is answered to the holder of its link alone', async () => {
      const headers = { 'idempotency-key': 'k1' };
      const patch = (token: string) => ask(`PATCH ${mine(token)}`, { json: { name: 'good' }, headers });
      expect((await patch(good.token)).status).toBe(200);
      const none = await patch(swap(good.token, 30));
      expect(none.status).toBe(404);
      await patch(second.token);
      expect((await stage.items('own', second.id))?.name).toBe('good');
    });
  });
});
