import { beforeAll, describe, expect, test } from 'vitest';
import { availableClients } from '../support/databases';
import { useDatabase, useHost } from '../support/hooks';
import type { Host } from '../support/host';
import { grantArticles } from '../support/seed';
import { type Answer, type Message, send } from '../support/send';
import { fixtureThemes } from '../support/theme';

const many = 50;
const times = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const statuses = (answers: readonly Answer[]) => {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

describe.each(await availableClients())('two server processes on %s', (client) => {
  const database = useDatabase(client);
  const options = () => ({
    themesDirectory: fixtureThemes,
    env: { APPS_THEME: 'main', ...database().address.env },
  });
  const hosts = [useHost(options), useHost(options)];
  let token: string;

  const ask = <T = unknown>(at: number, method: string, path: string, json?: unknown, headers = {}) => {
    const message: Message = { method, path: `/site/@@apps/${path}`, json };
    // A connection of its own: one that is kept may be closed by the server just when it is used again.
    message.headers = { accept: 'application/json', connection: 'close', 'x-csrf-token': token, ...headers };
    return send<T>((hosts[at % hosts.length] as Host).url, message);
  };
  const items = async (at: number, path: string) => (await ask<Record<string, unknown>>(at, 'GET', path)).json;

  beforeAll(async () => {
    await grantArticles(hosts[0] as Host, 'Public', ['find', 'findOne', 'create', 'update']);
    token = '';
    token = String((await ask(0, 'GET', 'open')).headers['x-csrf-token']);
  });

  test.each([1, 2])(`${many} likes of one page by its block's logic count ${many}, through %d`, async (processes) => {
    const content = `like/blocks/rate/like?through=${processes}`;
    const total = async () => Number(((await items(0, 'like/record//')) as { total?: number }).total ?? 0);
    const before = processes === 1 ? 0 : await total();
    const answers = await Promise.all(times(many, (at) => ask(processes === 1 ? 0 : at, 'POST', content, {})));
    expect(statuses(answers), answers.find(({ status }) => status !== 200)?.text).toEqual({ 200: many });
    expect((await total()) - before).toBe(many);
  });

  test.each([1, 2])(`${many} times $inc of one record is ${many}, through %d`, async (processes) => {
    const record = `open/record/inc-${processes}`;
    expect((await ask(0, 'PUT', record, {})).status).toBe(201);
    const at = (request: number) => (processes === 1 ? 0 : request);
    const answers = await Promise.all(
      times(many, (request) => ask(at(request), 'PATCH', record, { $inc: { total: 1, tenths: 10 } })),
    );
    expect(statuses(answers)).toEqual({ 200: many });
    expect(await items(1, record)).toEqual({ id: `inc-${processes}`, total: many, tenths: 10 * many });
  });

  test('one of fifty creators of an id wins', async () => {
    const answers = await Promise.all(times(many, (at) => ask(at, 'PUT', 'open/record/wanted', { creator: at })));
    expect(statuses(answers)).toEqual({ 201: 1, 409: many - 1 });
    expect(await items(0, 'open/record/wanted')).toEqual({
      id: 'wanted',
      creator: answers.findIndex(({ status }) => status === 201),
    });
  });

  test('generated ids are never equal', async () => {
    const answers = await Promise.all(times(many, (at) => ask<{ id: string }>(at, 'POST', 'open', { at })));
    expect(statuses(answers)).toEqual({ 201: many });
    expect(new Set(answers.map(({ json }) => json.id)).size).toBe(many);
  });

  test('If-Match lets one of several writers of one version through', async () => {
    await ask(0, 'PUT', 'open/record/matched', { by: null });
    const etag = String((await ask(0, 'GET', 'open/record/matched')).headers.etag);
    const answers = await Promise.all(
      times(10, (at) => ask(at, 'PATCH', 'open/record/matched', { by: at }, { 'if-match': etag })),
    );
    expect(statuses(answers)).toEqual({ 200: 1, 412: 9 });
  });

  test('a form that arrives ten times at two processes is saved once, and each gets the first answer', async () => {
    const named = async (name: string) =>
      (await ask<{ items: { text?: string } }[]>(0, 'GET', 'forms/records')).json.filter(
        ({ items }) => items.text === name,
      );
    for (const round of ['first', 'second', 'third']) {
      const form = { text: `${round} form`, _save: '', _csrf: token };
      const post = (at: number) =>
        send((hosts[at % hosts.length] as Host).url, {
          method: 'POST',
          path: '/site/@@apps/forms/blocks/all',
          form,
          headers: { accept: 'text/html', connection: 'close' },
        });
      const answers = await Promise.all(times(10, post));
      answers.push(await post(0), await post(1));
      expect(statuses(answers), answers.find(({ status }) => status !== 303)?.text).toEqual({ 303: 12 });
      expect(new Set(answers.map(({ headers }) => headers.location?.split('/record/')[1])).size).toBe(1);
      expect(await named(`${round} form`)).toHaveLength(1);
    }
  });

  test('a request with an Idempotency-Key is carried out once by two processes', async () => {
    const key = { 'idempotency-key': '"once"' };
    await ask(0, 'PUT', 'open/record/once', { n: 0 });
    const answers = await Promise.all(times(10, (at) => ask(at, 'PATCH', 'open/record/once', { $inc: { n: 1 } }, key)));
    // In the process of the first one, others are told that it runs.
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
    expect((await ask(1, 'PATCH', 'open/record/once', { $inc: { n: 1 } }, key)).status).toBe(200);
    const bulk = () => Promise.all(times(4, (at) => ask(at, 'POST', 'open/records', [{ of: 'bulk' }], key)));
    expect([...(await bulk()), ...(await bulk())].some(({ status }) => status === 201)).toBe(true);
    expect(await items(0, 'open/record/once')).toMatchObject({ n: 1 });
    const { json } = await ask<{ items: { of?: string } }[]>(0, 'GET', 'open/records');
    expect(json.filter(({ items: { of } }) => of === 'bulk')).toHaveLength(1);
  });

  test('two people who edit a record in two processes both keep what they have changed', async () => {
    const path = 'forms/record/merged';
    const made = await ask(0, 'PUT', path, { block: 'all', text: 'some text' });
    expect(made.status, made.text).toBe(201);
    const page = await send((hosts[0] as Host).url, {
      method: 'GET',
      path: `/site/@@apps/${path}/edit`,
      headers: { accept: 'text/html' },
    });
    const version = /name="_version" value="([^"]*)"/.exec(page.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect(version).toMatch(/^\d+-\d+\..*text=/);
    const save = (at: number, fields: Record<string, string>) =>
      send((hosts[at] as Host).url, {
        method: 'POST',
        path: `/site/@@apps/${path}`,
        headers: { accept: 'text/html' },
        form: { text: 'some text', _version: version, _csrf: token, _save: '', ...fields },
      });
    const both = await Promise.all([save(0, { text: 'changed text' }), save(1, { area: 'changed area' })]);
    expect(both.map(({ status }) => status)).toEqual([303, 303]);
    expect(await items(0, path)).toMatchObject({ text: 'changed text', area: 'changed area' });
    const conflict = await save(1, { text: 'another text' });
    expect(conflict.status).toBe(409);
    expect(conflict.text).toContain('Stored in the meantime: changed text.');
  });

  test('readers, writers, bulk creators and searches together never fail', async () => {
    const work: ((at: number) => Promise<Answer>)[] = [
      (at) => ask(at, 'POST', 'search', { title: `Book ${at}`, year: at }),
      (at) =>
        ask(
          at,
          'POST',
          'search/records',
          times(200, (n) => ({ title: `Bulk ${at} ${n}`, year: n })),
        ),
      (at) => ask(at, 'GET', 'search/records?limit=50'),
      (at) => ask(at, 'GET', 'open/record/inc-1'),
      (at) => ask(at, 'PATCH', 'open/record/inc-1', { $inc: { total: 1 } }),
      (at) => ask(at, 'POST', 'open/search', { query: "id == 'inc-1'" }),
    ];
    const answers = await Promise.all(times(60, (at) => (work[at % work.length] as (typeof work)[0])(at >> 1)));
    expect(answers.filter(({ status }) => status >= 400).map(({ status, text }) => [status, text])).toEqual([]);
  }, 120_000);

  test('never send more mails of an app than its rate, and every record is in one', async () => {
    type Box = typeof globalThis & { rated: { subject: string; text: string }[] };
    for (const host of hosts)
      await host.run((strapi) => {
        (globalThis as Box).rated = [];
        strapi.plugin('email').service('email').send = async (mail: Box['rated'][0]) => {
          (globalThis as Box).rated.push(mail);
        };
      });
    const sent = async () => (await Promise.all(hosts.map((host) => host.run(() => (globalThis as Box).rated)))).flat();
    const form = (at: number) => {
      const headers = { accept: 'text/html', connection: 'close', 'x-csrf-token': token };
      const fields = { name: `Form ${at}`, _save: '' };
      const path = '/site/@@apps/mails/blocks/contact';
      return send((hosts[at % hosts.length] as Host).url, { method: 'POST', path, headers, form: fields });
    };
    const states = () =>
      (hosts[0] as Host).run(async (strapi) => {
        const rows = await strapi.db.query('plugin::apps.mail').findMany({ orderBy: { id: 'asc' } });
        return rows.map(({ state, mails }: { state: string; mails: number }) => `${state} ${mails}`).sort();
      });
    // Of an hour's hundred, ten are left.
    await (hosts[0] as Host).run(async (strapi) => {
      const tried = { state: 'sent', attempts: 1, triedAt: Date.now(), dueAt: Date.now() };
      const row = { ...tried, site: 'site', app: 'mails', block: '', mails: 1, recipients: 'x', subject: 'x' };
      for (let at = 0; at < 90; at += 1)
        await strapi.db.query('plugin::apps.mail').create({ data: { ...row, mailId: `earlier-${at}` } });
    });
    expect(statuses(await Promise.all(times(many, form)))).toEqual({ 303: many });
    await expect.poll(states).toEqual([...Array(100).fill('sent 1'), 'waiting 40']);
    expect(await sent()).toHaveLength(10);

    // An hour later, a process that has stored none of them sends those that wait.
    await (hosts[0] as Host).run(async (strapi) => {
      const hour = 60 * 60_000;
      await strapi.db.query('plugin::apps.mail').updateMany({ where: {}, data: { triedAt: Date.now() - hour } });
    });
    expect((await form(51)).status).toBe(303);
    await expect.poll(async () => (await sent()).length).toBe(12);
    const told = (await sent()).map(({ subject, text }) => `${subject}\n${text}\n`).join('');
    for (const at of [...times(many, (one) => one), 51]) expect(told).toContain(`Message of Form ${at}: Form-${at}\n`);
  });

  describe('logic that takes its time', () => {
    type Steps = [step: string, value?: unknown][];
    interface Article {
      id: number;
      documentId: string;
      title: string;
    }
    const article = (slug: string) => ({ title: 'First', slug, tiles: [] });
    const pause = ['spin', 150] as const;
    const steps = <T>(at: number, given: readonly (readonly [string, unknown?])[]) =>
      ask<T>(at, 'POST', 'content/blocks/slow/run', { steps: given });
    const count = async (slug: string) => (await steps<number[]>(1, [['count', slug]])).json[0];

    test('sees its own changes, and they are stored as it saw them', async () => {
      const answer = await steps<[Article, null, null, Article, null, Article, number, null, string[], null]>(0, [
        ['create', article('slow')],
        ['record', 'slow'],
        pause,
        ['update', { title: 'Second' }],
        pause,
        ['find'],
        ['count', 'slow'],
        pause,
        ['search', "id == 'slow'"],
        pause,
      ]);
      expect(answer.status, answer.text).toBe(200);
      const [made, , , updated, , found, counted, , searched] = answer.json;
      expect([updated.documentId, found.documentId]).toEqual([made.documentId, made.documentId]);
      expect([made.title, updated.title, found.title]).toEqual(['First', 'Second', 'Second']);
      expect([found.id, counted, searched]).toEqual([updated.id, 1, ['slow']]);
      const stored = await (hosts[1] as Host).run(
        (strapi, documentId) => strapi.documents('api::article.article').findOne({ documentId, status: 'published' }),
        made.documentId,
      );
      expect(stored).toMatchObject({ id: updated.id, title: 'Second', slug: 'slow' });
      expect(await count('slow')).toBe(1);
      expect(await items(1, 'content/record/slow')).toEqual({ id: 'slow', documentId: made.documentId });
    });

    test('leaves nothing when it fails in the end', async () => {
      const answer = await steps(0, [
        ['create', article('undone')],
        pause,
        ['record', 'undone'],
        pause,
        ['fail', 'end'],
      ]);
      expect(answer.status).toBe(500);
      expect(await count('undone')).toBe(0);
      expect((await ask(0, 'GET', 'content/record/undone')).status).toBe(404);
    });

    test('keeps its changes before a change that is refused', async () => {
      const given: Steps = [['create', article('kept')], ['create', { ...article('other'), absent: 1 }], ['delete']];
      const answer = await steps<unknown[]>(0, [...given, pause, ['update', { title: 'Second' }]]);
      expect(answer.json).toMatchObject([{}, { error: 'BadRequestError' }, { error: 'UnauthorizedError' }, null, {}]);
      expect(await count('kept')).toBe(1);
    });

    test('runs again when content that it has read is changed meanwhile', async () => {
      const [{ documentId }] = (await steps<[Article]>(0, [['create', article('read')]])).json;
      const reading = steps<[null, Article]>(0, [['of', documentId], ['find'], ['spin', 400], ['record', 'reader']]);
      await new Promise((resolve) => setTimeout(resolve, 150));
      const writing = await steps(1, [
        ['of', documentId],
        ['update', { title: 'Second' }],
      ]);
      expect([writing.status, (await reading).json[1].title]).toEqual([200, 'Second']);
    });

    test('loses no change of content that builds on what was read', async () => {
      const [{ documentId }] = (await steps<[Article]>(0, [['create', { ...article('appended'), title: '' }]])).json;
      const letters = [...'abcdefgh'];
      const answers = await Promise.all(
        letters.map((letter, at) =>
          steps(at, [
            ['of', documentId],
            ['append', letter],
          ]),
        ),
      );
      expect(statuses(answers), answers.find(({ status }) => status !== 200)?.text).toEqual({ 200: letters.length });
      const [, found] = (await steps<[null, Article]>(1, [['of', documentId], ['find']])).json;
      expect([...found.title].sort()).toEqual(letters);
    });

    test('runs again when another has made the same meanwhile', async () => {
      const answers = await Promise.all(
        // The second runs its logic while the first commits: Strapi checks that the value is unique, the database does not.
        [[pause], [pause, pause, pause, pause]].map((pauses, at) =>
          steps<unknown[]>(at, [['create', article('same')], ...pauses]),
        ),
      );
      expect(statuses(answers)).toEqual({ 200: 2 });
      const made = answers.map(({ json }) => json[0]);
      expect(made).toContainEqual({ error: 'BadRequestError' });
      expect(await count('same')).toBe(1);
    });

    let attempt = 0;
    const held: [name: string, steps: () => Steps][] = [
      ['a refused change', () => [['delete']]],
      ['a change', () => [['create', article(`held-${attempt}`)]]],
      ['a search after a write', () => [['record'], ['search', 'true']]],
    ];
    // On a machine that pauses, its second may be over before the others are sent; a real delay would occur every time.
    test.each(held)('keeps no other writer waiting after %s', { retry: 2 }, async (_name, before) => {
      attempt += 1;
      const order: string[] = [];
      const note = (name: string) => (answer: Answer) => {
        order.push(name);
        return answer.status;
      };
      const slow = steps(0, [...before(), ['spin', 1_000]]).then(note('slow'));
      await new Promise((done) => setTimeout(done, 400));
      const others = [
        ask(0, 'POST', 'open', { during: 'logic' }).then(note('other')),
        ask(1, 'POST', 'open', { during: 'logic' }).then(note('other')),
      ];
      expect(await Promise.all([slow, ...others])).toEqual([200, 201, 201]);
      expect(order).toEqual(['other', 'other', 'slow']);
    });
  });
});
