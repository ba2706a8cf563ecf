import { beforeAll, describe, expect, test } from 'vitest';
import { useStage, useThemes } from '../support/hooks';
import type { Row, RowRequest } from '../support/stage';
import { runTable } from '../support/table';
import { files, layout, rules } from './theme-pages/apps';
import { messageFiles, messagesForVisitors } from './theme-pages/messages';

const themes = useThemes(async (themes) => {
  await themes.write('main/layout.html', layout);
  await themes.write('main/rules.yaml', rules);
  for (const [file, text] of Object.entries({ ...files, ...messageFiles }))
    await themes.write(`main/apps/${file}`, text);
});
const stage = useStage(() => ({ themesDirectory: themes.directory }));
beforeAll(async () => {
  await stage.put('themed', 'one', { block: 'form', name: 'One' });
  await stage.put('themed', 'listed', { name: 'Listed' });
  await stage.put('themed', 'two', { block: 'bare', name: 'Two' });
  await stage.put('bare', 'one', { block: 'form', name: 'One' });
  await stage.put('bare', 'three', { block: 'view', name: 'Three' });
  await stage.put('bare', 'four', { block: 'half', name: 'Four' });
  await stage.put('bare', 'five', { block: 'plain', name: 'Five' });
});

const inTheme = 'id="themed"';
const page = { accept: 'text/html' };
const themed = (row: Omit<Row, 'title'>): Row => ({
  title: 'a page in the theme',
  ...page,
  ...row,
  has: [inTheme, ...(row.has ?? [])],
});
const bare = (row: Omit<Row, 'title'>): Row => ({
  title: 'a bare page',
  ...page,
  ...row,
  lacks: [inTheme, ...(row.lacks ?? [])],
});
const ajax = { 'x-requested-with': 'XMLHttpRequest' };

describe('pages of apps', () => {
  runTable(stage, [
    themed({
      send: 'GET themed/blocks/form',
      status: 200,
      has: ['<title>form</title>', '/@@apps/themed/blocks/form"'],
    }),
    bare({ send: 'GET themed/blocks/bare', status: 200 }),
    themed({ send: 'GET themed/record/one', status: 200, has: ['One'] }),
    themed({ send: 'GET themed/record/one/edit', status: 200, has: ['value="One"'] }),
    themed({ send: 'GET themed/record/listed', status: 200, has: ['<title>listed</title>', '<dd>Listed</dd>'] }),
    bare({ send: 'GET themed/record/two', status: 200 }),
    bare({ send: 'GET bare/blocks/form', status: 200 }),
    themed({ send: 'GET bare/blocks/in', status: 200 }),
    bare({ send: 'GET bare/record/one', status: 200 }),
    themed({ send: 'GET bare/record/three', status: 200 }),
    bare({ send: 'GET themed/blocks/form', headers: ajax, status: 200, has: [/^<form/] }),
    bare({ send: 'GET themed/blocks/form', accept: 'text/html+fragment', status: 200, has: [/^<form/] }),
    { title: 'JSON has no theme', send: 'GET themed/blocks/form', status: 200, gives: { elements: {} } },
    { title: 'settings have no theme', send: 'GET themed', as: 'mona', status: 200, gives: { with_theme: true } },
    themed({ send: 'POST themed/blocks/form', form: { _save: 'x' }, status: 422, has: ['role="alert"'] }),
    themed({ send: 'POST themed/blocks/form', form: { 'action.go': 'x' }, status: 200, has: ['name="name"'] }),
    bare({ send: 'POST themed/blocks/bare', form: { _save: 'x' }, status: 422 }),
    bare({ send: 'POST themed/blocks/form', headers: ajax, form: { _save: 'x' }, status: 422, has: [/^<form/] }),
    themed({ send: 'POST themed/record/one', form: { _save: 'x', name: '' }, status: 422 }),
  ]);
});

describe('views keep their address and theme', () => {
  const action = (view: string) => `action="http://[^"]+/site/@@${view}"`;
  runTable(stage, [
    themed({ send: 'GET /site/@@in-theme', status: 200, has: [new RegExp(action('in-theme'))] }),
    themed({ send: 'GET /site/@@own', status: 200, has: [new RegExp(action('own'))] }),
    bare({ send: 'GET /site/@@own-bare', status: 200, has: [new RegExp(action('own-bare'))] }),
    bare({ send: 'GET /site/@@bare', status: 200, has: [new RegExp(action('bare'))] }),
    bare({
      send: 'GET /site/@@in-theme',
      headers: ajax,
      status: 200,
      has: [/^<form/, new RegExp(action('in-theme'))],
    }),
    themed({ send: 'GET /site/@@in-theme?q=words', status: 200, has: ['said words'] }),
    themed({
      send: 'POST /site/@@in-theme',
      form: { _save: 'x' },
      status: 422,
      has: ['role="alert"', new RegExp(action('in-theme'))],
    }),
    bare({ send: 'POST /site/@@bare', form: { _save: 'x' }, status: 422, has: [new RegExp(action('bare'))] }),
    themed({
      send: 'POST /site/@@in-theme',
      form: { 'action.go': 'x' },
      status: 200,
      has: [new RegExp(action('in-theme'))],
    }),
    themed({ send: 'POST /site/@@in-theme', form: { 'action.none': 'x' }, status: 404 }),
    themed({
      send: 'POST /site/@@in-theme',
      form: { 'action.fail': 'x' },
      status: 500,
      has: ['does not work at the moment'],
    }),
    themed({ send: 'POST /site/@@in-theme', csrf: false, form: { _save: 'x' }, status: 403 }),
    {
      title: 'a view that saves leads to the record',
      ...page,
      send: 'POST /site/@@in-theme',
      form: { _save: 'x', name: 'New' },
      status: 303,
      answers: { location: /\/site\/@@apps\/bare\/record\// },
    },
    {
      title: 'a view as JSON has no theme',
      send: 'POST /site/@@in-theme',
      form: { _save: 'x' },
      status: 422,
      gives: { error: { details: { errors: [{ path: ['name'] }] } } },
    },
    {
      title: 'other methods of a view are refused',
      ...page,
      send: 'PUT /site/@@in-theme',
      status: 405,
      answers: { allow: 'GET, HEAD, POST, OPTIONS' },
    },
  ]);
});

describe('a definition that overrides the settings, and its view both', () => {
  runTable(stage, [
    bare({ send: 'GET bare/blocks/half', status: 200 }),
    themed({ send: 'GET /site/@@half', status: 200 }),
    themed({ send: 'GET bare/record/four', status: 200 }),
  ]);
});

describe('built-in actions that the definition does not declare', () => {
  runTable(stage, [
    {
      title: 'have a label of the catalogue',
      ...page,
      send: 'GET bare/record/five/edit',
      status: 200,
      has: ['>Send it<'],
    },
    {
      title: 'have a question of the catalogue',
      ...page,
      send: 'POST bare/record/five',
      form: { _delete: '' },
      status: 200,
      has: ['<p class="apps-question">Really?</p>'],
    },
  ]);
});

test('a button of a row sends its value, and the question keeps it', async () => {
  for (const id of ['milk', 'bread "white"']) await stage.put('bare', id, { block: 'todo', text: `Buy ${id}` });
  const ask = (form?: Record<string, string>) =>
    stage.send({ ...page, send: `${form ? 'POST' : 'GET'} bare/blocks/todo`, ...(form && { form }) });
  expect((await ask()).text).toContain('<button name="action.done" value="bread &quot;white&quot;">');
  const question = await ask({ 'action.done': 'bread "white"' });
  expect(question.text).toContain('<p class="apps-question">Is it done?</p>');
  expect(question.text).toMatch(/<button type="submit" name="action.done" value="bread &quot;white&quot;"/);
  const done = await ask({ 'action.done': 'bread "white"', _confirm: 'done' });
  expect(done.text).toContain('value="milk"');
  expect(done.text).not.toContain('bread');
});

describe('a page in a theme without script and canonical address', () => {
  const shows = async (article: string) => {
    const send = `GET bare/blocks/words?article=${encodeURIComponent(article)}`;
    const { text } = await stage.send({ ...page, send });
    const added = [
      /<link rel="canonical" href="http[^"]+">\n<\/head>/g,
      /<script src="http[^"]+\/@@apps\.js[^"]*" defer>/g,
    ];
    return added.map((tag) => text.match(tag)?.length);
  };
  test.each([
    'plain words',
    '<p>A page names its address with rel="canonical", before </head>.</p>',
    '<p>Add src="/site/@@apps.js" or /@@apps.js?v=1 to your page.</p><textarea><script src="/@@apps.js"></script></textarea>',
    '<!-- <link rel="canonical"><script src="/@@apps.js"></script> -->',
  ])('gets both, whatever its text says: %s', async (article) => {
    expect(await shows(article)).toEqual([1, 1]);
  });
});

describe('logic', () => {
  runTable(stage, [
    {
      title: 'reads what console has written',
      send: 'GET bare/blocks/logs/logged',
      status: 200,
      gives: ['one', 'two'],
    },
    ...['', 'a\nb', 'x'.repeat(256)].map((name) => ({
      title: `names a record as no record may be named: ${JSON.stringify(name.slice(0, 5))}`,
      send: 'POST bare/blocks/nameless',
      json: { name, _save: '' },
      status: 400,
      error: 'BadRequestError',
    })),
  ]);
});

messagesForVisitors(stage, themes);

describe('pages of the site itself', () => {
  runTable(stage, [
    themed({ send: 'GET /site/@@login', status: 200, has: ['type="password"'] }),
    themed({ send: 'GET bare/blocks/none', status: 404, has: ['Not found'] }),
    themed({ send: 'GET none/blocks/x', status: 404 }),
    themed({ send: 'GET /site/none', status: 404 }),
    themed({ send: 'GET /site/@@none', status: 404 }),
    themed({ send: 'GET themed/blocks/shut', status: 401, has: ['@@login?next='] }),
    themed({ send: 'GET themed/blocks/shut', as: 'anna', status: 403 }),
    themed({ send: 'POST bare/blocks/form', form: { 'action.fail': 'x' }, status: 500 }),
    bare({ send: 'GET /none', status: 404 }),
    bare({ send: 'GET /site/@@theme/main/assets/none.png', status: 404 }),
    bare({ send: 'DELETE /site/@@login', status: 405, answers: { allow: 'GET, HEAD, POST, OPTIONS' } }),
    ...['login', 'logout'].map((name) =>
      bare({ send: `OPTIONS /site/@@${name}`, status: 204, answers: { allow: 'GET, HEAD, POST, OPTIONS' } }),
    ),
    ...['apps.js', 'apps.css', 'theme/main/assets/none.png', 'apps.live', 'apps.openapi.json'].map((name) =>
      bare({ send: `OPTIONS /site/@@${name}`, status: 204, answers: { allow: 'GET, HEAD, OPTIONS' } }),
    ),
    bare({ send: 'POST /site/@@apps.live', status: 405, answers: { allow: 'GET, HEAD, OPTIONS' } }),
    bare({
      send: `HEAD /site/@@apps.live?t=${'x'.repeat(20)}`,
      accept: 'text/event-stream',
      status: 200,
      answers: { 'content-type': /^text\/event-stream/, 'cache-control': 'no-store' },
    }),
    bare({ send: 'HEAD /site/@@apps.live', status: 400 }),
    themed({ send: 'GET /site/@@login?hand-over=unknown', status: 401, has: ['type="password"'] }),
    bare({ send: 'GET bare/blocks/none', headers: ajax, status: 404 }),
    { title: 'an error as JSON has no theme', send: 'GET bare/blocks/none/x', status: 404, error: 'NotFoundError' },
  ]);

  test('a wrong password is answered in the theme, whose blocks do not see it', async () => {
    const { text, headers } = await stage.send({ ...page, send: 'GET /site/@@login' });
    const token = /@@login">\n<input type="hidden" name="_csrf" value="([^"]+)"/.exec(text)?.[1] ?? '';
    const cookie = String(headers['set-cookie']?.[0]).split(';')[0] as string;
    const answer = await stage.send({
      ...page,
      send: 'POST /site/@@login',
      csrf: false,
      headers: { cookie },
      form: { _csrf: token, identifier: 'anna', password: 'wrong' },
    });
    expect(answer.status, answer.text).toBe(401);
    expect(answer.text).toContain(inTheme);
    expect(answer.text).toContain('role="alert"');
    expect(answer.text).toContain('["refused","GET","GET",0,true]');
  });

  test('blocks of the theme write nothing when a form is posted, and do not see it', async () => {
    const before = await stage.send<unknown[]>({ send: 'GET around/records' });
    const answer = await stage.send({ ...page, send: 'POST themed/blocks/form', form: { _save: 'x', name: '' } });
    expect(answer.text).toContain('["refused","GET","GET",0,true]');
    expect((await stage.send<unknown[]>({ send: 'GET around/records' })).json).toEqual(before.json);
  });

  test("the theme's own templates show the login and errors; a broken one cannot take them away", async () => {
    const ask = async (row: RowRequest) => stage.send({ ...page, ...row });
    await themes.write(
      'main/templates/login.html',
      `<form id="own" method="post" action="{{ login.action }}">{{ login.hidden }}<b>{{ login.message }}</b>
<input name="identifier" value="{{ login.identifier }}"><i>{{ login.status }} {{ page.title }}</i></form>`,
    );
    await themes.write(
      'main/templates/error.html',
      '<h2>{{ error.status }} {{ error.name }}</h2><p>{{ error.message }}</p><a href="{{ error.login_url }}">go</a>',
    );
    const login = await ask({ send: 'GET /site/@@login?next=/site/x' });
    expect(login.text).toMatch(
      /<nav>.*<form id="own" method="post" action="http:[^"]*\/site\/@@login"><input type="hidden"/s,
    );
    for (const part of ['name="next" value="/site/x"', '<b></b>', '<i>200 Log in to '])
      expect(login.text).toContain(part);
    const cookie = String(login.headers['set-cookie']?.[0]).split(';')[0] as string;
    const token = /@@login"><input type="hidden" name="_csrf" value="([^"]+)"/.exec(login.text)?.[1] ?? '';
    const form = { _csrf: token, identifier: '<anna>', password: 'wrong' };
    const wrong = await ask({ send: 'POST /site/@@login', csrf: false, headers: { cookie }, form });
    expect(wrong.status).toBe(401);
    expect(wrong.text).toContain('<b>The name or the password is not right. Please try again.</b>');
    expect(wrong.text).toContain('value="&lt;anna&gt;"');
    const refused = await ask({ send: 'GET themed/blocks/shut' });
    expect(refused.text).toMatch(
      /<h2>401 UnauthorizedError<\/h2><p>Please log in to see &quot;shut&quot;<\/p><a href="http:[^"]*@@login\?next=/,
    );
    expect((await ask({ send: 'GET /site/none' })).text).toContain('<h2>404 NotFoundError</h2>');

    await themes.write('main/templates/login.html', '{% broken %}');
    await themes.write('main/templates/error.html', '{{ error.message | none }}{% for %}');
    expect((await ask({ send: 'GET /site/@@login' })).text).toMatch(/<nav>.*type="password"/s);
    expect((await ask({ send: 'GET /site/none' })).text).toMatch(/<nav>.*data-error="NotFoundError"/s);
    expect(await stage.host.printed()).toContain('The template "templates/login.html"');
    for (const name of ['login', 'error']) await themes.remove(`main/templates/${name}.html`);
  });

  test('a broken theme keeps no visitor from a login, an error or the answer to a form', async () => {
    await themes.write('main/layout.html', '{% broken %}');
    const statuses: [RowRequest, number][] = [
      [{ send: 'GET /site/@@login' }, 200],
      [{ send: 'GET bare/blocks/none' }, 404],
      [{ send: 'POST themed/blocks/form', form: { 'action.go': 'x' } }, 200],
      [{ send: 'GET themed/blocks/form' }, 500],
    ];
    for (const [row, status] of statuses) {
      const answer = await stage.send({ ...page, ...row });
      expect([answer.status, answer.text.includes(inTheme)], answer.text).toEqual([status, false]);
      expect(answer.text).toMatch(/^<!doctype html>/);
    }
    expect(await stage.host.printed()).toContain('[apps] the theme "main" cannot show /site/@@login');
    await themes.write('main/layout.html', layout);
  });
});
