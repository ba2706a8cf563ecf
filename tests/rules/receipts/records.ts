import { expect, test } from 'vitest';
import type { Client } from '../../support/databases';
import { locationOf } from '../../support/send';
import { html, type RowRequest, type Stage } from '../../support/stage';
import type { Mails, Sent } from './mails';

interface Looking {
  client: Client;
  /** The next look at unconfirmed records. */
  look: { fire(): Promise<void> };
}

/** Records whose receipt waits for a confirmation: who sees them, what they hold, what the button in the mail does. */
export function waitingRecords(stage: Stage, mails: Mails, { client, look }: Looking): void {
  const { ask, make, tokenIn, mailTo } = mails;
  const press = (token: string, more: Partial<RowRequest> = {}) => ask(`POST events/confirm/${token}`, more);
  const state = async (id: string) => (await stage.items('events', id))?._state ?? null;
  const search = async (as: string) =>
    ((await ask('POST events/search', { as, json: {} })).json as unknown as { id: string }[]).map(({ id }) => id);

  test('a record waits, hidden from others than editors, until the button is pressed', async () => {
    const { id, link, answer } = await make('join', { name: 'Anna', email: 'anna@example.org' });
    expect(answer).toMatchObject({ success: 'created', state: 'unconfirmed' });
    expect(await stage.items('events', id)).toMatchObject({
      _state: 'unconfirmed',
      _held: true,
      seen: 'unconfirmed',
      found: 'true',
    });
    const first = await mailTo('anna@example.org');
    expect(first.subject).toBe('Please confirm: Join us');
    // Nothing of what was entered.
    expect(JSON.stringify(first)).not.toMatch(/Anna|Welcome|mine/);
    const token = tokenIn(first);
    const hidden = async (as: string) => {
      expect(await search(as)).toEqual([]);
      expect((await ask('GET events/records', { as })).json).toEqual([]);
      expect((await ask('GET events/records?limit=5', { as })).json).toEqual([]);
      expect((await ask('GET events/search.csv', { as, accept: 'text/csv' })).text).not.toContain('Anna');
      expect((await ask('GET events/records.csv', { as, accept: 'text/csv' })).text).not.toContain('Anna');
      const total = await ask('POST events/search', { as, json: { with_total: true } });
      expect(total.headers['x-total-count']).toBe('0');
      expect((await ask(`GET events/record/${id}`, { as })).status).toBe(404);
      expect((await ask(`GET events/record/${id}`, { as, accept: html })).status).toBe(404);
      expect((await ask(`GET events/record/${id}?saved`, { as, accept: html })).text).not.toContain('Anna');
      expect((await ask('GET events/blocks/look/all', { as })).json).toEqual([0, 0, 0, 0]);
      expect((await ask(`GET events/blocks/look/one?id=${id}`, { as })).text).toContain('true');
      expect((await ask(`GET events/blocks/look/shown?id=${id}`, { as })).text).not.toContain('Anna');
      expect((await ask('GET events/blocks/refers', { as, accept: html })).text).not.toContain('Anna');
    };
    await hidden('rita');
    expect((await ask('GET events/blocks/look/all')).json).toEqual([0, 0, 0, 0]);
    expect(await search('eric')).toEqual([id]);
    expect((await ask('GET events/blocks/look/all', { as: 'eric' })).json).toEqual([1, 1, 1, 1]);
    // The holder of the own link sees it, and corrects it.
    const own = /mine\/([\w-]{65})/.exec(link)?.[1] ?? '';
    expect((await ask(`GET events/mine/${own}`)).json).toMatchObject({ name: 'Anna' });
    expect((await ask(`PATCH events/mine/${own}`, { json: { name: 'Anna B' } })).status).toBe(200);
    expect((await ask(`PATCH events/mine/${own}`, { json: { email: 'victim@example.org' } })).status).toBe(422);
    for (const method of ['GET', 'HEAD', 'GET'])
      expect((await ask(`${method} events/confirm/${token}`, { accept: html })).status).toBe(200);
    expect((await ask(`GET events/confirm/${token}`)).json).toEqual({ state: 'unconfirmed' });
    expect(await state(id)).toBe('unconfirmed');
    expect(await mails.to('office@example.org')).toEqual([]);
    expect(await mails.hooks()).toEqual([]);
    const page = await ask(`GET events/confirm/${token}`, { accept: html });
    expect(page.headers['referrer-policy']).toBe('no-referrer');
    expect(page.headers['x-robots-tag']).toBe('noindex, nofollow');
    expect(page.headers['cache-control']).toBe('private, no-store');
    expect(page.text).toContain(`action="${stage.host.url}/site/@@apps/events/confirm/${token}"`);
    const done = await press(token, { accept: html, form: {}, csrf: false });
    expect([done.status, done.text]).toEqual([200, expect.stringContaining('Thank you, it is confirmed.')]);
    expect(await stage.items('events', id)).not.toHaveProperty('_state');
    expect(await search('rita')).toEqual([id]);
    expect((await ask('GET events/blocks/look/all')).json).toEqual([1, 1, 1, 0]);
    await expect.poll(() => mails.to('anna@example.org')).toHaveLength(2);
    const [, receipt] = await mails.to('anna@example.org');
    expect(receipt).toMatchObject({ subject: 'Welcome, Anna B', html: expect.stringContaining('<p>Dear Anna B') });
    expect(receipt?.html).toContain(`<a href="${link}">`);
    expect(receipt?.headers?.['List-Unsubscribe']).toMatch(/^<http\S+\/events\/unsubscribe\/[\w-]{86}>$/);
    expect((await mailTo('office@example.org')).subject).toBe('New: Anna B');
    expect(await mails.hooks()).toEqual(['create']);
    // A second time changes nothing.
    expect((await press(token, { json: {} })).json).toEqual({ success: 'confirmed' });
    expect((await press(token, { accept: html, form: {} })).text).toContain('it is confirmed');
    expect(await mails.to('anna@example.org')).toHaveLength(2);
    expect(await mails.hooks()).toEqual(['create']);
    expect((await ask(`PATCH events/mine/${own}`, { json: { email: 'victim@example.org' } })).status).toBe(422);
    expect((await ask(`PATCH events/record/${id}`, { as: 'eric', json: { email: 'right@example.org' } })).status).toBe(
      200,
    );
    const versions = (await ask(`GET events/history/${id}`, { as: 'mona' })).json as unknown as { through: string }[];
    expect(versions.map(({ through }) => through)).toEqual(['json', 'self_service', 'self_service', 'json']);
  });

  test('the form says that a mail was sent, and shows nothing of the record', async () => {
    const form = { name: 'Berta', email: 'berta@example.org', _save: '' };
    for (const as of ['anonymous', 'rita']) {
      const saved = await ask('POST events/blocks/join', {
        as,
        accept: html,
        form: { ...form, email: `${as}@example.org` },
      });
      expect(saved.status).toBe(303);
      const { pathname, search: query } = locationOf(saved);
      const cookie = String(saved.headers['set-cookie']).split(';')[0] ?? '';
      const next = await ask(`GET ${pathname}${query}`, { as, accept: html, headers: { cookie } });
      expect(next.status).toBe(200);
      if (as === 'anonymous') expect(next.text).toContain('Please open the link in it');
      // The next step is in the mail: no link to the form.
      expect(next.text).not.toContain('Continue');
      expect(next.text).not.toContain('Berta');
    }
    expect((await ask('POST events/blocks/join', { json: { name: 'No address', _save: '1' } })).json).toMatchObject({
      error: { details: { errors: [{ path: ['email'] }] } },
    });
  });

  test('without confirmation the receipt goes out at once, with the first date that is not over', async () => {
    const items = { name: 'Ä, b; c', email: 'p@example.org', born: '1990-05-05', day: '2999-12-31' };
    const { link } = await make('plain', items);
    const mail = await mailTo('p@example.org');
    expect(mail.subject).toBe('Received: plain');
    expect(mail.text).toContain('name: Ä, b; c');
    expect(mail.text).toContain(link);
    const [file] = mail.attachments ?? [];
    expect(file).toMatchObject({ filename: 'event.ics', contentType: expect.stringContaining('text/calendar') });
    expect(file?.content).toContain('DTSTART;VALUE=DATE:29991231\r\nDTEND;VALUE=DATE:30000101\r\n');
    // With a time, by the clock of the site.
    await make('join', { name: 'T', email: 't@example.org', day: '2999-06-01T09:30' });
    await press(tokenIn(await mailTo('t@example.org')), { json: {} });
    await expect.poll(() => mails.to('t@example.org')).toHaveLength(2);
    expect((await mails.to('t@example.org'))[1]?.attachments?.[0]?.content).toContain('DTSTART:29990601T093000Z\r\n');
    await make('plain', { name: 'over', email: 'q@example.org', born: '1990-05-05' });
    expect((await mailTo('q@example.org')).attachments).toBeUndefined();
    await make('plain', { name: 'no address' });
    expect((await mailTo('q@example.org')).subject).toBe('Received: plain');
  });

  test('what states and logic say goes out at the confirmation', async () => {
    const { id } = await make('moved', { name: 'S', email: 's@example.org' });
    expect(await stage.items('events', id)).toMatchObject({ state: 'new', _state: 'unconfirmed' });
    const token = tokenIn(await mailTo('s@example.org'));
    expect(await mails.to('office@example.org')).toEqual([]);
    await press(token, { json: {} });
    expect((await mailTo('office@example.org')).subject).toBe('In new: S');
    // What logic makes is its author's.
    expect((await ask('POST events/blocks/look/make', { json: {} })).text).toContain('none');
  });

  test('at the confirmation goes out what would go out without it, and to whom', async () => {
    for (const block of ['asked', 'sure']) {
      const { email } = (await stage.user('rita')) as { email: string };
      const make = (send: string, json: object) =>
        ask(send, { as: 'rita', json: { ...json, email: `${block}@example.org` } });
      const confirmed = async () => {
        if (block === 'asked') return;
        expect((await press(tokenIn(await mailTo('sure@example.org')), { as: 'eric', json: {} })).status).toBe(200);
      };
      const sent = async () =>
        (await mails.all())
          .filter(({ to }) => to === email)
          .map(({ subject }) => subject)
          .sort();
      expect((await make('POST events', { block, name: 'by JSON' })).status).toBe(201);
      await confirmed();
      await expect.poll(sent, { timeout: 20_000 }).toEqual(['In new: by JSON']);
      const { json } = await make(`POST events/blocks/${block}`, { name: 'by form', _save: '1' });
      await expect
        .poll(() => mails.to(`${block}@example.org`), { timeout: 20_000 })
        .toHaveLength(block === 'asked' ? 2 : 3);
      await confirmed();
      await expect.poll(sent, { timeout: 20_000 }).toEqual(['In new: by JSON', 'In new: by form', 'New: by form']);
      expect(
        Object.keys((await stage.items('events', String(json.id))) ?? {}).filter((name) => name.startsWith('_')),
      ).toEqual([]);
      await mails.forget();
    }
  });

  test('versions have nothing of what waits until a record is confirmed, and a restore brings nothing of it back', async () => {
    await ask('POST events/blocks/sure', { as: 'rita', json: { name: 'V', email: 'v@example.org', _save: '1' } });
    const [id = ''] = await search('eric');
    expect(await stage.items('events', id)).toMatchObject({ _maker: expect.any(String), _notify: true });
    expect((await press(tokenIn(await mailTo('v@example.org')), { json: {} })).status).toBe(200);
    const own = (items: object | null) => Object.keys(items ?? {}).filter((name) => name.startsWith('_'));
    const versionsOf = async (record: string) =>
      (await ask(`GET events/history/${record}`, { as: 'eric' })).json as unknown as {
        version: number;
        items: object;
      }[];
    const versions = await versionsOf(id);
    expect(versions.map(({ items }) => own(items))).toEqual([[], ['_state']]);
    expect((await ask(`DELETE events/record/${id}`, { as: 'eric' })).status).toBe(200);
    const version = versions.at(-1)?.version;
    expect((await ask(`POST events/history/${id}`, { as: 'eric', json: { version } })).status).toBe(201);
    expect(own(await stage.items('events', id))).toEqual([]);
    // A backup that is restored has records that wait.
    await stage.host.run(async (strapi) => {
      const items = (name: string) => ({ name, _state: 'unconfirmed', _maker: 'm@example.org', _notify: true });
      const all = [
        { items: items('w'), id: 'w' },
        { items: { name: 'x' }, id: 'x' },
      ].map((one) => ({ ...one, creator: null }));
      const read = async function* () {
        yield all;
      };
      const key = { site: 'site', app: 'events' };
      await strapi.plugin('apps').service('records').store().createMany(key, { read }, { restores: true });
    });
    expect((await versionsOf('w')).map(({ items }) => own(items))).toEqual([['_state']]);
    expect(await versionsOf('x')).toMatchObject([{ items: { name: 'x' } }]);
    await ask('DELETE events/records', { as: 'mona' });
    const rows = await stage.host.run((strapi) => strapi.db.connection('apps_history').select('items', 'earlier'));
    expect(JSON.stringify(rows)).not.toMatch(/_maker|_notify|_held|_since/);
  });

  test.each(['plain', 'sure', 'seat'])(
    'an editor who moves a record into "%s" confirms it, and sends what has waited',
    async (block) => {
      const { id } = await make('join', { name: 'M', email: 'm@example.org' });
      await mailTo('m@example.org');
      expect((await ask(`PATCH events/record/${id}`, { as: 'eric', json: { block } })).status).toBe(200);
      const items = (await stage.items('events', id)) ?? {};
      expect([items.block, ...Object.keys(items).filter((name) => name.startsWith('_'))]).toEqual([block]);
      expect(await search('rita')).toEqual([id]);
      expect((await mailTo('office@example.org')).subject).toBe('New: M');
      await expect
        .poll(async () => (await mails.to('m@example.org')).map(({ subject }) => subject))
        .toEqual(['Please confirm: Join us', 'Welcome, M']);
      expect(await mails.hooks()).toEqual(['create']);
    },
  );

  test('places are held for half an hour, and taken again by who confirms later', async () => {
    const a = await make('seat', { name: 'a', email: 'a@example.org' });
    const tokenA = tokenIn(await mailTo('a@example.org'));
    expect((await ask('POST events', { json: { block: 'seat', email: 'b@example.org' } })).json).toMatchObject({
      error: { details: { code: 'full' } },
    });
    await mails.age(a.id, 30 * 60);
    await look.fire();
    await expect.poll(() => stage.items('events', a.id), { timeout: 25_000 }).not.toHaveProperty('_held');
    expect(await state(a.id)).toBe('unconfirmed');
    const b = await make('seat', { name: 'b', email: 'b@example.org' });
    const late = await press(tokenA, { json: {} });
    expect([late.status, late.json]).toMatchObject([409, { error: { details: { code: 'full' } } }]);
    const page = await press(tokenA, { accept: html, form: {} });
    expect([page.status, page.text]).toEqual([409, expect.stringContaining('All places are taken.')]);
    expect(page.text).toContain('<button');
    expect(await state(a.id)).toBe('unconfirmed');
    expect((await press(tokenIn(await mailTo('b@example.org')), { json: {} })).status).toBe(200);
    await ask(`DELETE events/record/${b.id}`, { as: 'mona' });
    expect((await press(tokenA, { json: {} })).status).toBe(200);
    expect(await state(a.id)).toBeNull();
  }, 60_000);

  test('a unique address is held for half an hour too, and none is locked out longer', async () => {
    const squat = await make('join', { name: 'squat', email: 'mine@example.org' });
    const again = { json: { block: 'join', name: 'owner', email: 'Mine@example.org' } };
    expect((await ask('POST events', again)).status).toBe(422);
    await mails.age(squat.id, 30 * 60);
    await look.fire();
    await expect
      .poll(async () => (await ask('POST events', again)).status, { timeout: 25_000, interval: 100 })
      .toBe(201);
    // The first one comes too late.
    const [first] = await mails.to('mine@example.org');
    expect((await press(tokenIn(first as Sent), { json: {} })).json).toMatchObject({
      error: { details: { errors: [{ path: ['email'] }] } },
    });
  }, 60_000);

  test('over the limit of a waiting list, who confirms waits, and moves up with a mail', async () => {
    const a = await make('list', { name: 'a', email: 'a@example.org' });
    const b = await make('list', { name: 'b', email: 'b@example.org' });
    expect([await stage.items('events', a.id), await stage.items('events', b.id)]).toMatchObject([
      { _held: true },
      { name: 'b' },
    ]);
    expect(await stage.items('events', b.id)).not.toHaveProperty('_held');
    const tokenB = tokenIn(await mailTo('b@example.org'));
    expect((await press(tokenB, { accept: html, form: {} })).text).toContain('you are on the waiting list');
    expect(await state(b.id)).toBe('waiting');
    expect((await ask(`GET events/confirm/${tokenB}`)).json).toEqual({ state: 'waiting' });
    // The one that holds the place withdraws.
    const tokenA = tokenIn(await mailTo('a@example.org'));
    expect((await ask(`DELETE events/confirm/${tokenA}`)).json).toEqual({ success: 'deleted' });
    expect([await stage.items('events', a.id), await state(b.id)]).toEqual([null, null]);
    await expect
      .poll(async () => (await mails.to('b@example.org')).map(({ subject }) => subject))
      .toEqual(['Please confirm: list', 'Received: list', 'You have a place: list']);
  });

  test('who moves up gets the receipt, which says so first', async () => {
    const a = await make('queue', { name: 'A', email: 'a@example.org' });
    const { id, link } = await make('queue', { name: 'B', email: 'b@example.org', day: '2999-12-31' });
    expect(await state(id)).toBe('waiting');
    await expect.poll(() => mails.to('b@example.org')).toHaveLength(1);
    await ask(`DELETE events/record/${a.id}`, { as: 'mona' });
    expect(await state(id)).toBeNull();
    await expect.poll(() => mails.to('b@example.org')).toHaveLength(2);
    const [, mail] = await mails.to('b@example.org');
    const said = 'A place has become free, and it is yours: queue';
    expect(mail?.subject).toBe('See you, B');
    expect(mail?.html).toMatch(new RegExp(`^<p>${said}</p>\\s*[^]*<p>Dear B, <a href="`));
    expect(mail?.html).toContain(`<a href="${link}">`);
    expect(mail?.text?.startsWith(`${said}\n`)).toBe(true);
    expect(mail?.text).toContain('name: B\n');
    expect(mail?.text).toContain(link);
    expect(mail?.text).not.toContain('waiting list');
    expect(mail?.attachments?.[0]?.content).toContain('DTSTART;VALUE=DATE:29991231\r\n');
    expect(mail?.headers?.['List-Unsubscribe']).toMatch(/unsubscribe/);
  });

  test('the page of the link names the form and the address, and asks before it deletes', async () => {
    const { id } = await make('join', { name: 'Nora', email: 'nora@example.org' });
    const mail = await mailTo('nora@example.org');
    expect(mail.text).toContain('what was entered in the form is deleted after two days');
    const token = tokenIn(mail);
    const shown = await ask(`GET events/confirm/${token}`, { accept: html });
    expect(shown.text).toContain('entered in the form “Join us”');
    expect(shown.text).toContain('<p>email: n…@example.org</p>');
    expect(shown.text).not.toContain('nora@');
    const asked = await press(token, { accept: html, form: { _withdraw: 'ask' } });
    expect([asked.status, asked.text]).toEqual([200, expect.stringContaining('Do you want to withdraw this?')]);
    expect(await state(id)).toBe('unconfirmed');
    expect(/<button[^>]*>/.exec(asked.text)?.[0]).toContain('name="_withdraw" value="yes"');
    expect(asked.text).toContain(`/events/confirm/${token}">Cancel</a>`);
    // Confirmed in another window meanwhile: an old question deletes nothing, and does not say that it has.
    const late = await make('moved', { name: 'L', email: 'late@example.org' });
    const lateToken = tokenIn(await mailTo('late@example.org'));
    await press(lateToken, { json: {} });
    for (const answer of ['ask', 'yes'])
      expect((await press(lateToken, { accept: html, form: { _withdraw: answer } })).text).toContain('it is confirmed');
    expect(await stage.items('events', late.id)).not.toBeNull();
    expect((await press(token, { accept: html, form: { _withdraw: 'yes' } })).text).toContain('It was deleted.');
    expect(await stage.items('events', id)).toBeNull();
  });

  test('after two days an unconfirmed record is removed, and its link leads nowhere', async () => {
    const { id } = await make('join', { name: 'old', email: 'old@example.org' });
    const token = tokenIn(await mailTo('old@example.org'));
    await mails.age(id, 2 * 86_400);
    // On SQLite it is removed at the time of the next look, elsewhere at once.
    if (client !== 'sqlite') await look.fire();
    await expect.poll(() => stage.items('events', id), { timeout: 25_000, interval: 200 }).toBeNull();
    expect((await stage.items('events', 'gone-old'))?.name).toBe('on_delete ran');
    expect((await press(token, { json: {} })).status).toBe(404);
    expect(await mails.hooks()).toEqual(['create']);
  }, 60_000);

  test('after two days it is removed also where its on_delete refuses that or fails; the log says so', async () => {
    const names = ['refused', 'failed'];
    const ids: string[] = [];
    for (const name of names) ids.push((await make('join', { name, email: `${name}@example.org` })).id);
    for (const id of ids) await mails.age(id, 2 * 86_400);
    if (client !== 'sqlite') await look.fire();
    for (const [at, id] of ids.entries()) {
      await expect.poll(() => stage.items('events', id), { timeout: 25_000, interval: 200 }).toBeNull();
      expect(await stage.items('events', `gone-${names[at]}`)).toBeNull();
      expect(await stage.host.printed()).toContain(`"${id}" of events is deleted without its on_delete: `);
    }
  }, 60_000);

  test('a file of an unconfirmed record is not served to readers', async () => {
    const parts = mails.withFile({ name: 'f', email: 'f@example.org' });
    const { json } = await ask('POST events/blocks/join', parts);
    const items = (await stage.items('events', String(json.id))) as { cv: { documentId: string } };
    const file = `GET /site/@@apps/events/files/${items.cv.documentId}/a.pdf`;
    expect((await ask(file, { as: 'rita', accept: '*/*' })).status).toBe(404);
    expect((await ask(file, { as: 'eric', accept: '*/*' })).status).toBe(200);
    await press(tokenIn(await mailTo('f@example.org')), { json: {} });
    expect((await ask(file, { as: 'rita', accept: '*/*' })).status).toBe(200);
  });

  test('an address that wants no mails gets none, and the form does not say so', async () => {
    const one = await make('join', { name: 'x', email: 'Out@example.org' });
    const token = /unsubscribe\/([\w-]{86})/.exec((await mailTo('Out@example.org')).text ?? '')?.[1] ?? '';
    const path = `events/unsubscribe/${token}`;
    expect((await ask(`GET ${path}`)).json).toEqual({ refused: false });
    const page = await ask(`GET ${path}`, { accept: html });
    expect([page.status, page.headers['referrer-policy']]).toEqual([200, 'no-referrer']);
    expect((await ask(`GET ${path}`)).json).toEqual({ refused: false });
    // As a mail program sends it.
    const form = { 'List-Unsubscribe': 'One-Click' };
    expect((await ask(`POST ${path}`, { accept: '*/*', form, csrf: false })).status).toBe(200);
    expect((await ask(`DELETE ${path}`)).json).toEqual({ success: 'deleted' });
    const parts = mails.withFile({}).headers;
    const body = '--b\r\ncontent-disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--b--\r\n';
    expect((await ask(`POST ${path}`, { accept: '*/*', body, headers: parts ?? {}, csrf: false })).status).toBe(200);
    expect((await ask(`GET ${path}`)).json).toEqual({ refused: true });
    await ask(`DELETE events/record/${one.id}`, { as: 'mona' });
    const said = await make('join', { name: 'x', email: 'out@EXAMPLE.org' });
    expect(said.answer).toMatchObject({ success: 'created', state: 'unconfirmed' });
    await make('join', { name: 'y', email: 'marker@example.org' });
    await mailTo('marker@example.org');
    expect((await mails.all()).filter(({ to }) => /^out@/i.test(to))).toHaveLength(1);
    expect((await ask(`POST ${path}`, { accept: html, form: { _again: 'yes' }, csrf: false })).text).toContain(
      'No more mails',
    );
    expect((await ask(`DELETE ${path}`)).json).toEqual({ success: 'deleted' });
    await make('plain', { name: 'z', email: 'out@example.org' });
    expect((await mailTo('out@example.org')).subject).toBe('Received: plain');
    const rows = await stage.host.run((strapi) => strapi.db.connection('apps_mail_refusals'));
    expect(JSON.stringify(rows)).not.toMatch(/out@/i);
  });

  test('of twenty at the same moment one holds the seat, and of twenty confirmations one counts', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        ask('POST events', { json: { block: 'seat', email: `r${at}@example.org` } }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(409)]);
    const [id] = await search('eric');
    const [mail] = await expect.poll(mails.all).toHaveLength(1).then(mails.all);
    const token = tokenIn(mail as Sent);
    const pressed = await Promise.all(Array.from({ length: 20 }, () => press(token, { json: {} })));
    expect(pressed.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(await state(String(id))).toBeNull();
    await expect.poll(mails.all).toHaveLength(2);
    expect(await mails.hooks()).toEqual(['create']);
  });

  test('a bulk creation of a submitter is confirmed one by one; an editor imports', async () => {
    const records = ['u1', 'u2'].map((name) => ({ block: 'moved', name, email: `${name}@example.org` }));
    expect((await ask('POST events/records', { json: records })).status).toBe(201);
    expect(await search('rita')).toEqual([]);
    expect(await search('eric')).toHaveLength(2);
    await mailTo('u1@example.org');
    await mailTo('u2@example.org');
  });
}
