import { beforeAll, describe, expect, test } from 'vitest';
import { configured } from '../support/configure';
import { useStage } from '../support/hooks';
import { article, grantRole } from '../support/seed';
import type { Person } from '../support/stage';
import { fixture } from '../support/theme';

/** Names of Rapido's API that this plugin has as aliases: two equal apps, in JavaScript and in Python. */
const apps = { appsFolder: 'rapido', sites: [{ id: 'site', title: 'Names', theme: 'names' }] };
const stage = useStage({ themesDirectory: fixture('rapido'), env: { ...configured({ apps }), APPS_THEME: 'names' } });

const actions = ['find', 'findOne', 'create', 'update'].map((action) => `${article}.${action}`);

describe.each(['script', 'snake'])('the app %s', (app) => {
  const call = async (
    name: string,
    as: Person = 'anonymous',
    more: { form?: Record<string, string>; accept?: string } = {},
  ) => {
    const answer = await stage.send({ as, send: `POST ${app}/blocks/calls/${name}`, ...more });
    return answer.status === 200 ? answer.json : [answer.status, answer.json];
  };

  const cases: [name: string, gives: unknown, as?: Person][] = [
    ['save_as', ['note?as', { id: 'as', block: 'note', title: 'as', made: null, kept: 'at save' }]],
    [
      'save_new',
      ['note?note-new', { id: 'note-new', block: 'note', title: 'new', made: 'at creation', kept: 'at save' }, 1],
    ],
    ['save_own', { id: 'note-own', block: 'note', title: 'own', made: 'at creation', kept: 'at save' }],
    ['save_plain', 'plain'],
    ['save_nothing', null],
    [
      'roles',
      [
        ['boss', true],
        ['clerk', false],
      ],
      'eric',
    ],
    ['messages', ['one', '{"two":2}', 'three']],
    ['uid', ['u', true, 5, 'u']],
    ['user', null],
    ['user', [false, 'eric', 1, expect.objectContaining({ username: 'eric' })], 'eric'],
    ['other', ['open', null]],
    ['again', ['id', 'title'], 'mona'],
  ];
  test.each(cases)('the name %s works as in Rapido', async (name, gives, as) => {
    expect(await call(name, as)).toEqual(gives);
  });

  test('a dictionary with an order keeps it in the answer', async () => {
    expect(Object.keys((await call('ordered')) as object)).toEqual(['zeta', 'title', 'alpha', 'year']);
  });

  test('a record that logic has saved as a block is shown with it', async () => {
    const { text } = await stage.send({ as: 'eric', send: `GET ${app}/record/as`, accept: 'text/html' });
    expect(text).toMatch(/<form name="note"[^>]*>/);
  });

  test('an equal text of a text index holds the words', async () => {
    await stage.put(app, 'w', { title: 'A strange castle' });
    expect(await call('words')).toEqual(['w']);
  });

  test('a form is saved: fields that the block shows, checked', async () => {
    const form = { title: 'sent', stars: '4', votes: '1000', made: 'sent', _save: '', other: 'x' };
    expect(await call('save_form', 'anonymous', { form, accept: 'text/html' })).toEqual({
      id: 'form',
      block: 'note',
      title: 'sent',
      stars: 4,
      kept: 'at save',
    });
    expect(await call('save_form', 'anonymous', { form: { stars: 'many' }, accept: 'text/html' })).toEqual([
      'BadRequestError',
      expect.stringMatching(/^stars: /),
    ]);
  });

  test('a block is shown inside another one, and its buttons post to its own address', async () => {
    const [names, press, here, text, input] = (await call('block')) as [string[], object, object, string, string];
    expect(names.sort()).toEqual(['kept', 'made', 'press', 'stars', 'title', 'votes']);
    expect(press).toEqual({ type: 'ACTION', label: 'Press' });
    expect(here).toEqual({ type: 'BASIC' });
    expect(text).toMatch(/^<div class="apps-record" data-apps-block="note">/);
    expect(text).not.toContain('<input');
    expect(input).toMatch(/<input[^>]*name="title"/);
    expect(input).toMatch(new RegExp(`formaction="[^"]*/@@apps/${app}/blocks/note"`));
  });

  test('the address of a request has no query', async () => {
    const { json } = await stage.send<string[]>({ send: `GET ${app}/blocks/calls/address?a=1` });
    expect(json).toEqual([expect.stringMatching(/\/address\?a=1$/), expect.stringMatching(/\/calls\/address$/)]);
  });

  describe('content', () => {
    const address = `/site/articles/${app}/@@apps/${app}/blocks/content`;
    const ask = async (name: string, as: Person, method = 'POST') => {
      const { status, json } = await stage.send({ as, send: `${method} ${address}/${name}` });
      return status === 200 ? json : status;
    };
    beforeAll(async () => {
      await grantRole(stage.host, 'editors', actions);
      await grantRole(stage.host, 'Public', actions.slice(0, 2));
      await stage.host.run(async (strapi, slug) => {
        for (const data of [
          { title: 'First', slug, tiles: [] },
          { title: `Zz ${slug}`, slug: `z-${slug}`, tiles: [] },
        ])
          await strapi.documents('api::article.article').create({ data, status: 'published' } as never);
      }, app);
    });

    test('assigning to fields needs the right to update, and POST', async () => {
      expect(await ask('assign', 'anonymous')).toBeOneOf([401, 403]);
      expect(await ask('assign', 'eric', 'GET')).toBe(403);
      expect(await ask('stored', 'anonymous', 'GET')).toEqual(['First', null]);
      const read = await stage.send({ as: 'eric', send: `GET ${address}`, accept: 'text/html' });
      expect([read.status, read.text]).toEqual([200, expect.stringMatching(/before .*restricted to POST.* after/)]);
      const [title, stored, summary, url] = (await ask('assign', 'eric')) as string[];
      expect([title, stored, summary]).toEqual(['Assigned', 'Assigned', 'too']);
      expect(url).toMatch(new RegExp(`/site/articles/${app}$`));
      expect(await ask('stored', 'anonymous', 'GET')).toEqual(['Assigned', 'too']);
    });

    test('nothing is assigned by a function that fails', async () => {
      expect(await ask('fail', 'eric')).toBe(500);
      expect(await ask('stored', 'anonymous', 'GET')).toEqual(['Assigned', 'too']);
    });

    test('the portal has no fields', async () => {
      const { status, json } = await stage.send({ as: 'eric', send: `POST ${app}/blocks/content/assign` });
      expect([status, json]).toMatchObject([
        500,
        { error: { name: 'LogicError', message: expect.stringContaining('no current content item') } },
      ]);
    });

    test('created content is a draft until it is published', async () => {
      expect(await ask('create', 'anonymous')).toBeOneOf([401, 403]);
      expect(await ask('publish', 'anonymous')).toBeOneOf([401, 403]);
      expect(await ask('publish', 'eric')).toEqual([0, [`By ${app}`, `/articles/by-${app}`]]);
      expect(await ask('retract', 'eric')).toBe(0);
    });

    test('content is found by type, in an order', async () => {
      expect(await ask('find', 'anonymous')).toEqual(expect.arrayContaining([`Zz ${app}`]));
    });
  });

  describe('an element chooses its content type', () => {
    const ask = (type: string, accept = 'text/html') =>
      stage.send({ send: `GET ${app}/blocks/typed/typed?type=${encodeURIComponent(type)}`, accept });

    test.each([
      ['text/csv', 'text/html'],
      ['text/csv', 'application/json'],
      ['text/csv', 'text/csv'],
      ['text/plain; charset=UTF-8', '*/*'],
      ['Text/Calendar', 'text/html'],
      ['application/xml', 'text/html'],
      ['text/xml', 'text/html'],
    ])('%s, asked for by %s', async (type, accept) => {
      const { status, headers, text } = await ask(type, accept);
      expect([status, text]).toEqual([200, 'one,<script>alert(1)</script>\n']);
      expect(headers['content-type']).toBe(`${type.split(';')[0]?.toLowerCase()}; charset=utf-8`);
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['content-security-policy']).toBe("default-src 'none'; sandbox");
    });

    test.each([
      'text/html',
      'application/xhtml+xml',
      'image/svg+xml',
      'text/javascript',
      'application/pdf',
      'text/csv; charset=utf-7',
      'text/csv; charset=utf-8; x=y',
      'text/csv, text/html',
      '',
    ])('%j is refused', async (type) => {
      const { status, headers, text } = await ask(type);
      expect(status).toBe(500);
      expect(headers['content-type']).toMatch(/^text\/html/);
      expect(text).not.toContain('<script>alert');
    });

    test('a type of text is sent as text', async () => {
      const { status, json } = await stage.send({ send: `GET ${app}/blocks/typed/plain` });
      expect([status, json]).toMatchObject([500, { error: { message: expect.stringContaining('must return text') } }]);
    });

    test('a type chosen in a page changes nothing', async () => {
      const { headers, text } = await stage.send({ send: `GET ${app}/blocks/typed`, accept: 'text/html' });
      expect(headers['content-type']).toMatch(/^text\/html/);
      expect(text).toContain('<p>one,');
    });
  });

  test('refresh is for managers', async () => {
    expect(await call('again')).toEqual([401, expect.anything()]);
    expect(await call('again', 'eric')).toEqual([403, expect.anything()]);
  });
});
