import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient, type Reply, type RequestOptions } from './support/client';
import { type Host, startHost } from './support/host';
import { adminToken } from './support/seed';

const withDemo = { env: { APPS_DEMO: 'true' } };

/** Names and passwords as the first start prints them. */
function printedPasswords(host: Host): Record<string, string> {
  const lines = host.output().matchAll(/^ {2}([\w@.]+) +(\w+-\w+-1) +\w/gm);
  return Object.fromEntries([...lines].map(([, name, password]) => [name, password]));
}

/** A visitor of one app, at the site's root or at a content item; `null` is nobody. */
function visitor(host: Host, app: string, name: string | null, content = '') {
  const password = name && (printedPasswords(host)[name] ?? '');
  const client = createClient(host, {
    app,
    site: `site${content}`,
    as: name && password !== null ? { basic: [name, password] } : null,
  });
  const html = (options?: RequestOptions): RequestOptions => ({ ...options, headers: { accept: 'text/html' } });
  return {
    ...client,
    open: (path: string) => client.get(path, html()),
    submit: (path: string, form: Record<string, string>) => client.request('POST', path, html({ form })),
  };
}

const pathOf = (url: unknown) => new URL(String(url)).pathname;
const location = (reply: Reply) => {
  const { pathname, search } = new URL(reply.headers.get('location') ?? '');
  return pathname + search;
};

const counts = (host: Host) =>
  host.run(async (strapi) => ({
    administrators: await strapi.db.query('admin::user').count(),
    users: await strapi.db.query('plugin::users-permissions.user').count(),
    roles: await strapi.db.query('plugin::users-permissions.role').count(),
    permissions: await strapi.db.query('plugin::users-permissions.permission').count(),
    articles: await strapi.db.query('api::article.article').count(),
    pages: await strapi.db.query('api::page.page').count(),
  }));

describe('the first start', () => {
  test('prints names, passwords and addresses that work; the second start makes nothing', async () => {
    const first = await startHost(withDemo);
    try {
      const passwords = printedPasswords(first);
      expect(Object.keys(passwords).sort()).toEqual(['admin@example.com', 'anna', 'eric', 'mona', 'rita', 'sam']);
      for (const name of ['rita', 'sam', 'anna', 'eric', 'mona']) {
        expect((await visitor(first, 'glossary', name).get()).status, name).toBe(200);
      }
      expect((await visitor(first, 'glossary', 'nobody').get()).status).toBe(401);

      const addresses = first.output().match(/http:\S+@@apps\S+/g) ?? [];
      expect(addresses.length).toBeGreaterThan(3);
      for (const address of addresses) expect([200, 401], address).toContain((await fetch(address)).status);

      const made = await counts(first);
      const second = await startHost({ ...withDemo, database: first.database });
      try {
        expect(await counts(second)).toEqual(made);
        expect(printedPasswords(second)).toEqual({});
      } finally {
        await second.stop();
      }
    } finally {
      await first.stop();
    }
  });

  test.each([
    ['APPS_DEMO=false', { APPS_DEMO: 'false', NODE_ENV: 'development' }],
    ['production without APPS_DEMO=true', { APPS_DEMO: '', NODE_ENV: 'production' }],
  ])('with %s makes nothing and grants nothing', async (_, env) => {
    const host = await startHost({ env });
    try {
      expect(await counts(host)).toMatchObject({ administrators: 0, users: 0, roles: 2, articles: 0, pages: 0 });
      expect(printedPasswords(host)).toEqual({});
      expect((await fetch(`${host.url}/api/articles`)).status).toBe(403);
      expect((await fetch(`${host.url}/site/articles/welcome/@@apps/rating`)).status).toBe(404);
    } finally {
      await host.stop();
    }
  });
});

describe('the demo', () => {
  let host: Host;
  beforeAll(async () => {
    host = await startHost(withDemo);
  });
  afterAll(() => host?.stop());

  test('no file of its apps is broken', async () => {
    const token = await adminToken(host);
    const response = await fetch(`${host.url}/apps/overview`, { headers: { authorization: `Bearer ${token}` } });
    const { sites } = (await response.json()) as {
      sites: { apps: { id: string; problems: number; theme: string }[] }[];
    };
    const apps = sites[0]?.apps.map(({ id, problems, theme }) => ({ id, problems, theme }));
    expect(apps?.sort((a, b) => (a.id < b.id ? -1 : 1))).toEqual([
      { id: 'comments', problems: 0, theme: 'demo' },
      { id: 'contact', problems: 0, theme: 'library' },
      { id: 'glossary', problems: 0, theme: 'demo' },
      { id: 'news', problems: 0, theme: 'demo' },
      { id: 'rating', problems: 0, theme: 'demo' },
      { id: 'survey', problems: 0, theme: 'demo' },
    ]);
  });

  test.each([
    'demo/assets/theme.css',
    'demo/apps/rating/assets/rating.css',
    'demo/apps/glossary/assets/glossary.css',
    'demo/apps/survey/assets/survey.css',
    'demo/apps/comments/assets/comments.css',
  ])('%s is served', async (path) => {
    const response = await fetch(`${host.url}/site/@@theme/${path}`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain('text/css');
  });

  describe('rating', () => {
    const like = (name: string | null, slug: string) =>
      visitor(host, 'rating', name, `/articles/${slug}`).submit('blocks/rate', { 'action.like': '1' });

    test('counts likes, one record a page, and lists the most liked', async () => {
      const answer = await like(null, 'welcome');
      expect(answer.status).toBe(200);
      expect(answer.text).toContain('1 like<');
      expect((await like('rita', 'welcome')).text).toContain('2 likes');
      expect((await like(null, 'records-not-tables')).text).toContain('1 like<');

      const nobody = visitor(host, 'rating', null);
      const { json } = await nobody.get<{ id: string; items: object }[]>('records');
      expect(json.map(({ items }) => items)).toEqual([
        { id: '/articles/welcome', total: 2 },
        { id: '/articles/records-not-tables', total: 1 },
      ]);
      const { text } = await nobody.open('blocks/top');
      expect(text).toMatch(/Welcome<\/a>.*Records, not tables<\/a>/s);
    });

    test('many at once count all', async () => {
      await Promise.all(Array.from({ length: 10 }, () => like(null, 'how-blocks-are-made')));
      const article = visitor(host, 'rating', null, '/articles/how-blocks-are-made');
      expect((await article.get('blocks/rate/likes')).json).toEqual({ total: 10, text: '10 likes' });
    });

    test('records cannot be written but by the block', async () => {
      expect((await visitor(host, 'rating', null).post('', { total: 99 })).status).toBe(401);
      expect((await visitor(host, 'rating', 'eric').put('record//articles/welcome', { total: 99 })).status).toBe(403);
    });

    test('what the logic logs comes with the page, in debug mode', async () => {
      expect((await like(null, 'welcome')).text).toContain('/articles/welcome is liked: 3');
    });
  });

  describe('glossary', () => {
    const cafe = { term: 'Café', meaning: 'Where editors <meet>.', topics: 'Content', _save: '1' };

    test('an author adds, finds, changes and deletes a term', async () => {
      const anna = visitor(host, 'glossary', 'anna');
      const added = await anna.submit('blocks/term', cafe);
      expect([added.status, location(added)]).toEqual([303, '/site/@@apps/glossary/record/cafe']);
      const second = await anna.submit('blocks/term', { ...cafe, meaning: 'Another one.' });
      expect(location(second)).toBe('/site/@@apps/glossary/record/cafe-1');

      const shown = await anna.open('record/cafe');
      expect(shown.text).toContain('Where editors &lt;meet&gt;.');
      expect(shown.text).toContain('name="_edit"');
      expect((await anna.open('record/cafe/edit')).text).toContain('value="Café"');
      const changed = await anna.submit('record/cafe', { ...cafe, meaning: 'A place for coffee.' });
      expect([changed.status, location(changed)]).toEqual([303, '/site/@@apps/glossary/record/cafe']);

      const nobody = visitor(host, 'glossary', null);
      const searches: [string, string[]][] = [
        ['q=CAFE', ['cafe', 'cafe-1']],
        ['q=coff*', ['cafe']],
        ['q=coffee&topic=Web', []],
        ['topic=Content', ['cafe', 'cafe-1']],
      ];
      for (const [query, ids] of searches) {
        const { text } = await nobody.open(`blocks/list?${query}`);
        expect([...text.matchAll(/record\/([\w-]+)"/g)].map(([, id]) => id).sort(), query).toEqual(ids);
      }

      const deleted = await anna.submit('record/cafe-1', { _delete: '1' });
      expect([deleted.status, location(deleted)]).toEqual([303, '/site/@@apps/glossary/blocks/list']);
      expect((await nobody.get('record/cafe-1')).status).toBe(404);
    });

    test('the form says what is wrong, and keeps what was entered', async () => {
      const { status, text } = await visitor(host, 'glossary', 'anna').submit('blocks/term', {
        term: 'Draft',
        meaning: '',
        _save: '1',
      });
      expect(status).toBe(422);
      expect(text).toContain('value="Draft"');
      expect(text).toContain('Please fill in this field.');
    });

    test.each([
      [null, 303, 401],
      ['rita', 303, 403],
      ['sam', 303, 403],
      ['eric', 200, 200],
      ['mona', 200, 200],
    ])('%s: adding %i, changing what is another’s %i', async (name, form, change) => {
      const who = visitor(host, 'glossary', name);
      const opened = await who.open('blocks/term');
      expect(opened.status).toBe(form);
      const saved = await who.submit('blocks/term', { term: `By ${name}`, meaning: 'A term.', _save: '1' });
      expect(location(saved)).toBe(
        form === 200 ? `/site/@@apps/glossary/record/by-${name}` : '/site/@@apps/glossary/blocks/list',
      );
      expect((await who.get(`record/by-${name}`)).status).toBe(form === 200 ? 200 : 404);
      const shown = await who.open('record/cafe');
      expect(shown.text.includes('name="_edit"')).toBe(change === 200);
      expect((await who.patch('record/cafe', { topics: ['Web'] })).status).toBe(change);
    });
  });

  describe('survey', () => {
    const answers = {
      name: 'Tom',
      number: 'ABC-1234',
      email: 'tom@example.org',
      website: 'https://example.org',
      favourite: 'welcome',
      topics: 'News',
      frequency: 'weekly',
      score: '9',
      since: '2020-02-29',
      call: '2026-12-01T09:30',
      comment: 'Go on!',
      newsletter: '1',
      source: 'mail',
      _save: '1',
    };

    test('the form has every kind of field, and the articles to choose from', async () => {
      const { text } = await visitor(host, 'survey', null).open('blocks/questions?from=mail');
      const types = ['text', 'email', 'url', 'checkbox', 'radio', 'number', 'date', 'datetime-local', 'hidden'];
      for (const type of types) expect(text, type).toContain(`type="${type}"`);
      expect(text).toContain('<textarea');
      expect(text).toContain('<option value="welcome">Welcome</option>');
      expect(text).toMatch(/name="source" type="hidden" value="mail"/);
    });

    test('anybody answers, and nobody but readers and editors reads', async () => {
      const nobody = visitor(host, 'survey', null);
      const sent = await nobody.submit('blocks/questions', answers);
      expect([sent.status, location(sent)]).toEqual([303, '/site/@@apps/survey/blocks/thanks']);
      const record = { block: 'questions', name: 'Ann', frequency: 'daily', score: 4 };
      expect((await nobody.post('', record)).status).toBe(201);

      expect((await nobody.get('records')).status).toBe(401);
      expect((await nobody.open('blocks/results')).status).toBe(401);
      expect((await visitor(host, 'survey', 'sam').open('blocks/results')).status).toBe(403);

      const rita = visitor(host, 'survey', 'rita');
      const { json } = await rita.get<{ path: string; items: object }[]>('records');
      expect(json.map(({ items }) => items)).toEqual([
        expect.objectContaining({
          block: 'answer',
          verdict: 'fan',
          topics: ['News'],
          score: 9,
          newsletter: true,
          call: '2026-12-01T09:30',
          answered_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        }),
        expect.objectContaining({ block: 'answer', verdict: 'critic', score: 4 }),
      ]);
      expect((await rita.get('blocks/results/summary')).json).toEqual({ answers: 2, average: 6.5, balance: 0 });
      const { text } = await rita.open('blocks/results');
      expect(text).toContain('<strong>6.5</strong>');
      expect(text).toContain('Go on!');

      const one = pathOf(json[0]?.path);
      expect((await rita.open(one)).text).not.toContain('name="_delete"');
      expect((await rita.submit(one, { _delete: '1' })).status).toBe(403);
      const eric = visitor(host, 'survey', 'eric');
      expect(location(await eric.submit(one, { _delete: '1' }))).toBe('/site/@@apps/survey/blocks/results');
      expect((await eric.get('records')).json).toHaveLength(1);
    });

    test.each([
      [{ name: '' }, 'Please fill in this field.'],
      [{ number: 'abc' }, 'Please match the requested format'],
      [{ email: 'tom' }, 'Please enter an e-mail address'],
      [{ favourite: 'none-of-them' }, 'Please choose one of the options.'],
      [{ frequency: '' }, 'Please choose an option.'],
      [{ score: '11' }, 'Please enter 10 or less.'],
      [{ since: '1999-12-31' }, 'Please enter 2000-01-01 or more.'],
    ])('%o is refused', async (wrong, message) => {
      const { status, text } = await visitor(host, 'survey', null).submit('blocks/questions', { ...answers, ...wrong });
      expect(status).toBe(422);
      expect(text).toContain(message);
    });

    test('"Start over" leads back to an empty form', async () => {
      const reply = await visitor(host, 'survey', null).submit('blocks/questions', { 'action.start_over': '1' });
      expect([reply.status, location(reply)]).toEqual([303, '/site/@@apps/survey/blocks/questions']);
    });
  });

  describe('comments', () => {
    const at = '/articles/welcome';
    const block = `/site${at}/@@apps/comments/blocks/comment`;
    const comment = (name: string | null, text: string) =>
      visitor(host, 'comments', name, at).submit('blocks/comment', { text, _save: '1' });
    const seen = async (name: string | null) => (await visitor(host, 'comments', name, at).open('blocks/comment')).text;

    test('a submitter writes without reading, a moderator lets it through', async () => {
      const sent = await comment('sam', 'Sam <b>was</b> here');
      expect([sent.status, location(sent)]).toEqual([303, `${block}?sent=yes`]);
      expect(await seen(null)).not.toContain('was');
      expect(await seen('sam')).toContain('waiting for a moderator');
      expect((await visitor(host, 'comments', 'sam').get('records')).status).toBe(403);

      const eric = visitor(host, 'comments', 'eric');
      const page = await eric.open('blocks/moderate');
      expect(page.text).toContain('sam on /articles/welcome: Sam &lt;b&gt;was&lt;/b&gt; here');
      const id = /name="chosen"[^>]* value="(\d+)"/.exec(page.text)?.[1] ?? '';
      const approved = await eric.submit('blocks/moderate', { chosen: id, 'action.approve': '1' });
      expect(location(approved)).toBe('/site/@@apps/comments/blocks/moderate');
      expect((await eric.open('blocks/moderate')).text).toContain('Nothing to do');
      expect(await seen(null)).toContain('Sam &lt;b&gt;was&lt;/b&gt; here');
    });

    test('an author changes an own comment, which then waits again; others cannot', async () => {
      await comment('anna', 'First thought');
      const anna = visitor(host, 'comments', 'anna', at);
      const { json } = await anna.get<{ id: string; items: { text: string } }[]>('records');
      const own = json.find(({ items }) => items.text === 'First thought')?.id ?? '';
      expect(await seen('anna')).toContain(`record/${own}/edit`);
      const path = `record/${own}`;
      const changed = await anna.submit(path, { text: 'Second thought', _save: '1' });
      expect([changed.status, location(changed)]).toEqual([303, `${block}?sent=yes`]);

      await anna.patch(path, { state: 'approved' });
      expect((await anna.get<{ state: string }>(path)).json.state).toBe('waiting');
      await anna.patch(path, { block: null, state: 'approved' });
      expect(await seen(null)).not.toContain('Second thought');

      expect((await visitor(host, 'comments', 'rita', at).submit(path, { text: 'x', _save: '1' })).status).toBe(400);
      await anna.patch(path, { block: 'comment' });
      expect((await visitor(host, 'comments', 'rita', at).submit(path, { text: 'x', _save: '1' })).status).toBe(303);
      expect((await anna.get<{ text: string }>(path)).json.text).toBe('Second thought');
      expect((await visitor(host, 'comments', 'rita', at).patch(path, { text: 'x' })).status).toBe(403);
    });

    test('an editor’s own comment is shown at once, and rejecting deletes', async () => {
      expect(location(await comment('eric', 'From the editor'))).toBe(block);
      expect(await seen(null)).toContain('From the editor');
      await comment('sam', 'Buy now');
      const eric = visitor(host, 'comments', 'eric');
      const { text } = await eric.open('blocks/moderate');
      const id = /value="(\d+)".*Buy now/s.exec(text.slice(text.lastIndexOf('name="chosen"')))?.[1] ?? '';
      await eric.submit('blocks/moderate', { chosen: id, 'action.reject': '1' });
      expect((await eric.get(`record/${id}`)).status).toBe(404);
    });

    test.each([
      [null, 401],
      ['rita', 403],
      ['sam', 403],
      ['anna', 403],
      ['mona', 200],
    ])('moderation is closed to %s: %i', async (name, status) => {
      const who = visitor(host, 'comments', name);
      expect((await who.open('blocks/moderate')).status).toBe(status);
      expect((await who.submit('blocks/moderate', {})).status).toBe(status);
    });

    test.each([[null], ['rita']])('%s cannot comment and is led to the login', async (name) => {
      expect(await seen(name)).toContain('/site/@@login?next=');
      const before = (await visitor(host, 'comments', 'eric').get<unknown[]>('records')).json.length;
      const reply = await comment(name, 'Let me in');
      expect([reply.status, location(reply)]).toEqual([303, `/site/@@login?next=${encodeURIComponent(block)}`]);
      expect((await visitor(host, 'comments', 'eric').get<unknown[]>('records')).json).toHaveLength(before);
    });
  });

  describe('contact, linked from another theme', () => {
    test('anybody writes, editors read and delete', async () => {
      const nobody = visitor(host, 'contact', null);
      const message = { name: 'Tom', email: 'tom@example.org', message: 'Hello\nthere', _save: '1' };
      const sent = await nobody.submit('blocks/message', message);
      expect([sent.status, location(sent)]).toEqual([303, '/site/@@apps/contact/blocks/message?sent=yes']);
      expect((await nobody.open('blocks/message?sent=yes')).text).toContain('Thank you.');
      expect((await nobody.open('blocks/inbox')).status).toBe(401);

      const eric = visitor(host, 'contact', 'eric');
      const { text } = await eric.open('blocks/inbox');
      expect(text).toContain('Hello\nthere');
      const path = pathOf(/name="_delete"[^>]* formaction="([^"]+)"/.exec(text)?.[1]);
      expect(location(await eric.submit(path, { _delete: '1' }))).toBe('/site/@@apps/contact/blocks/inbox');
      expect((await eric.open('blocks/inbox')).text).toContain('No messages.');
    });
  });
});
