import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { violations } from '../support/accessibility';
import { hasBrowser, keepPicture } from '../support/browser';
import { runCli } from '../support/command-line';
import { configured } from '../support/configure';
import { writeFiles } from '../support/files';
import { useBrowser, useFolder, useHost } from '../support/hooks';
import { apiToken, createUser, userToken } from '../support/seed';
import { type Answer, bearer, send } from '../support/send';
import { repository } from '../support/theme';

const templates = ['poll', 'comments', 'contact', 'survey', 'glossary', 'rating'];

/** A folder as `create-strapi-app` makes it, as far as the command line looks. */
const at = useFolder('templates', async (folder) => {
  await writeFile(path.join(folder, 'package.json'), '{"dependencies": {"@strapi/strapi": "^5.0.0"}}');
  await mkdir(path.join(folder, 'node_modules'));
  await symlink(path.join(repository, 'plugins', 'apps'), path.join(folder, 'node_modules', 'strapi-plugin-apps'));
  const commands = [
    ['init'],
    ...templates.map((template) => ['new', 'app', `my-${template}`, '--from', template]),
    ['new', 'app', 'empty'],
    ...['js', 'ts', 'python'].map((language) => ['new', 'block', `empty/in-${language}`, '--language', language]),
  ];
  for (const command of commands) {
    const { code, err } = await runCli(command, { cwd: folder });
    if (code !== 0) throw new Error(`${command.join(' ')}: ${err}`);
  }
  const links = templates.map((template) => [`linking/apps/my-${template}.lnk`, 'default']);
  await writeFiles(path.join(folder, 'themes'), { 'linking/layout.html': '{{ main }}', ...Object.fromEntries(links) });
});

const sites = [
  { id: 'site', title: 'Site', theme: 'default' },
  { id: 'second', title: 'Second', theme: 'linking' },
];
const host = useHost(() => ({ themesDirectory: at('themes'), env: configured({ apps: { sites } }) }));

/** Headers of each requester by name. */
const who: Record<string, Record<string, string>> = { visitor: {} };

beforeAll(async () => {
  for (const username of ['una', 'otto'])
    who[username] = bearer(await userToken(host, await createUser(host, { username })));
  who.manager = bearer(await apiToken(host, { name: 'manager', type: 'full-access' }));
});

const page = 'text/html';

function get(block: string, as = 'visitor', accept = page): Promise<Answer> {
  const target = block.startsWith('/') ? block : `/site/@@apps/${block}`;
  return send(host.url, { method: 'GET', path: target, headers: { ...who[as], accept } });
}

async function post(block: string, form: Record<string, string | string[]>, as = 'visitor'): Promise<Answer> {
  const { headers } = await get('guestbook', as, 'application/json');
  const token = String(headers['x-csrf-token']);
  const path = block.startsWith('/') ? block : `/site/@@apps/${block}`;
  return send(host.url, {
    method: 'POST',
    path,
    form: { ...form, _csrf: token },
    headers: { ...who[as], accept: page },
  });
}

/** Sends a form that must lead to another page, and reads that page. */
async function follow(block: string, form: Record<string, string | string[]>, as = 'visitor'): Promise<string> {
  const answer = await post(block, form, as);
  expect(answer.status, answer.text).toBeGreaterThanOrEqual(302);
  expect(answer.status, answer.text).toBeLessThanOrEqual(303);
  const { pathname, search } = new URL(String(answer.headers.location));
  const shown = await get(pathname + search, as);
  expect(shown.status).toBe(200);
  return shown.text;
}

test('each new app has a link in the navigation, which leads to a page with a title', async () => {
  const { text } = await get('/site/');
  const nav = /<nav[^>]*>([\s\S]*?)<\/nav>/.exec(text)?.[1] ?? '';
  const links = [...nav.matchAll(/<a href="http:\/\/[^/]+([^"]+)">([^<]+)<\/a>/g)].map(([, to = '', label]) => [
    to,
    label,
  ]);
  expect(links.map(([, label]) => label)).toEqual([
    ...[
      'Guestbook',
      'My poll',
      'My comments',
      'My contact',
      'My survey',
      'My glossary',
      'My rating',
      'Empty',
      'Log in',
    ],
  ]);
  const titles = await Promise.all(links.map(async ([to = '']) => /<title>(.*?) – /.exec((await get(to)).text)?.[1]));
  expect(titles).toEqual([
    ...['Guestbook', 'Poll', 'Comments', 'Contact us', 'A short survey', 'Glossary', 'Best rated', 'Hello'],
    expect.stringMatching(/^Log in/),
  ]);
});

describe('before any record exists', () => {
  test.each<[block: string, as: string, text: RegExp]>([
    ['my-poll/blocks/poll', 'visitor', /0 votes/],
    ['my-comments/blocks/comments', 'visitor', /Log in<\/a> to write/],
    ['my-comments/blocks/comments', 'una', /<textarea/],
    ['my-comments/blocks/moderate', 'manager', /No comment is waiting/],
    ['my-contact/blocks/contact', 'visitor', /Your e-mail address/],
    ['my-contact/blocks/inbox', 'manager', /No messages yet/],
    ['my-contact/blocks/message', 'manager', /inbox/],
    ['my-survey/blocks/survey', 'visitor', /How often do you visit us\?/],
    ['my-survey/blocks/results', 'manager', /No answers yet/],
    ['my-survey/blocks/thanks', 'visitor', /Thank you/],
    ['my-glossary/blocks/glossary', 'visitor', /No terms/],
    ['my-glossary/blocks/term', 'una', /Add a term/],
    ['my-rating/blocks/rate', 'visitor', /Not rated yet/],
    ['my-rating/blocks/top', 'visitor', /No page is rated yet/],
    ['empty/blocks/empty', 'visitor', /What is your name\?/],
    ['guestbook/blocks/guestbook', 'visitor', /Be the first/],
    ['/site/', 'visitor', /Latest entries of the guestbook/],
    ['/site/@@guestbook', 'visitor', /<h1>Guestbook<\/h1>/],
  ])('%s shows %s a page in the theme', async (block, as, text) => {
    const { status, text: shown } = await get(block, as);
    expect([status, shown]).toEqual([200, expect.stringMatching(text)]);
    expect(shown).toContain('<header class="site-header">');
    expect(shown).not.toMatch(/UNDEFINED ELEMENT|apps-mark/);
  });
});

test.each(['my-poll/blocks/poll', 'my-comments/blocks/comments', 'my-glossary/blocks/glossary'])(
  '%s has its style sheet also in a theme that links it',
  async (block) => {
    const { text } = await get(`/second/@@apps/${block}`);
    const [, address = ''] =
      /<link rel="stylesheet" href="[^"]*(\/second\/@@theme\/default\/apps\/[^"]+)"/.exec(text) ?? [];
    expect(address).toMatch(/\.css\?v=/);
    expect((await get(address.replace('&amp;', '&'))).status).toBe(200);
  },
);

describe('a form without its choices', () => {
  test.each<[block: string, form: Record<string, string>, as: string, text: string]>([
    ['my-poll/blocks/poll', { 'action.vote': '' }, 'visitor', 'Please choose an answer first.'],
    ['my-poll/blocks/poll', { 'action.vote': '', answer: 'never' }, 'una', 'Please choose an answer first.'],
    ['my-rating/blocks/rate', { 'action.rate': '' }, 'visitor', 'Please choose a number of stars first.'],
    ['my-survey/blocks/survey', { _save: '', score: '5' }, 'visitor', 'Please choose an option.'],
    ['my-survey/blocks/survey', { _save: '', frequency: 'daily', score: '11' }, 'visitor', '10'],
    [
      'my-contact/blocks/contact',
      { _save: '', name: 'a', email: 'a@b.example', message: 'x' },
      'visitor',
      'Please choose an option.',
    ],
    ['my-contact/blocks/contact', { _save: '' }, 'visitor', 'Please fill in this field.'],
    ['my-comments/blocks/comments', { _save: '' }, 'una', 'Please fill in this field.'],
    ['my-glossary/blocks/term', { _save: '' }, 'una', 'Please fill in this field.'],
    ['guestbook/blocks/guestbook', { _save: '' }, 'visitor', 'Please fill in this field.'],
  ])('%s %j of %s is 422 with a message', async (block, form, as, text) => {
    const answer = await post(block, form, as);
    expect([answer.status, answer.text]).toEqual([422, expect.stringContaining(text)]);
  });

  test('the moderator who chooses no comment gets a message', async () => {
    await follow('my-comments/blocks/comments', { _save: '', text: 'Waiting' }, 'una');
    const answer = await post('my-comments/blocks/moderate', { 'action.approve': '' }, 'manager');
    expect([answer.status, answer.text]).toEqual([422, expect.stringContaining('Please choose at least one comment.')]);
  });
});

describe('what the apps do', () => {
  test('a poll counts every visitor, and each user once', async () => {
    expect(await follow('my-poll/blocks/poll', { 'action.vote': '', answer: 'tuesday' })).toContain('One vote');
    const vote = { 'action.vote': '', answer: 'saturday' };
    expect(await follow('my-poll/blocks/poll', vote, 'otto')).toContain('Thank you for your vote');
    expect((await post('my-poll/blocks/poll', vote, 'otto')).text).toContain('2 votes');
    expect((await get('my-poll/blocks/poll', 'otto')).text).not.toContain('type="radio"');
  });

  test('a comment is shown to its author, and to everyone once it is approved', async () => {
    expect(await follow('my-comments/blocks/comments', { _save: '', text: 'Good <day>' }, 'otto')).toContain(
      'waiting for a moderator',
    );
    expect((await get('my-comments/blocks/comments')).text).not.toContain('Good');
    const moderate = await get('my-comments/blocks/moderate', 'manager');
    const [, chosen = ''] = /value="([^"]+)"[^>]*> <label[^>]*>otto on \/: Good &lt;day&gt;/.exec(moderate.text) ?? [];
    await follow('my-comments/blocks/moderate', { 'action.approve': '', chosen }, 'manager');
    expect((await get('my-comments/blocks/comments')).text).toContain('Good &lt;day&gt;');
    expect((await post('my-comments/blocks/comments', { _save: '', text: 'x' })).headers.location).toContain('@@login');
  });

  test('a message reaches the inbox, which visitors cannot read', async () => {
    const form = { _save: '', name: 'Ann', email: 'ann@example.org', subject: 'question', message: 'How?' };
    expect(await follow('my-contact/blocks/contact', form)).toContain('Your message has arrived');
    const inbox = await get('my-contact/blocks/inbox', 'manager');
    expect(inbox.text).toContain('How?');
    const [, record = ''] = /href="[^"]*(\/site\/@@apps\/my-contact\/record\/[^"]+)"/.exec(inbox.text) ?? [];
    expect((await get(record, 'manager')).text).toContain('mailto:ann@example.org');
    expect((await get(record)).status).toBe(401);
    expect((await get('my-contact/blocks/inbox')).status).toBe(401);
    expect(await follow(record, { _delete: '' }, 'manager')).toContain('No messages yet');
  });

  test('answers of a survey are in its results', async () => {
    const form = { _save: '', frequency: 'weekly', score: '8', topics: ['News', 'Events'], comment: 'Fine' };
    expect(await follow('my-survey/blocks/survey', form)).toContain('Your answers have arrived');
    const results = await get('my-survey/blocks/results', 'manager');
    expect(results.text).toContain('average score 8');
    const [, record = ''] = /href="[^"]*(\/site\/@@apps\/my-survey\/record\/[^"]+)"/.exec(results.text) ?? [];
    expect((await get(record, 'manager')).text).toMatch(/Once a week[\s\S]*News, Events/);
  });

  test('terms of a glossary are found, changed and deleted by their author', async () => {
    const form = { _save: '', term: 'Café', meaning: 'A place.' };
    expect(await follow('my-glossary/blocks/term', form, 'una')).toContain('A place.');
    expect((await get('my-glossary/blocks/glossary?q=pla*')).text).toContain('/record/cafe"');
    expect((await post('my-glossary/blocks/glossary', { q: 'nothing', 'action.find': '' })).text).toContain('No terms');
    const record = 'my-glossary/record/cafe';
    expect((await get(record, 'una')).text).toContain('action="');
    expect(await follow(`${record}/edit`, { ...form, meaning: 'A good place.' }, 'una')).toContain('A good place.');
    expect((await post(record, { _delete: '' }, 'otto')).status).toBe(403);
    expect(await follow(record, { _delete: '' }, 'una')).toContain('No terms');
    expect((await get('my-glossary/blocks/term')).status).toBe(303);
  });

  test('a page is rated, and is among the best', async () => {
    expect(await follow('my-rating/blocks/rate', { 'action.rate': '', stars: '5' })).toContain('one rating');
    await follow('my-rating/blocks/rate', { 'action.rate': '', stars: '4' }, 'una');
    expect((await get('my-rating/blocks/rate')).text).toContain('<strong>4.5</strong> of 5 stars, 2 ratings');
    expect((await get('my-rating/blocks/top')).text).toContain('4.5 of 5 stars');
  });

  test('an entry of the guestbook is on the home page', async () => {
    const form = { _save: '', name: 'Bo', message: '<b>Hello' };
    expect(await follow('guestbook/blocks/guestbook', form)).toContain('&lt;b&gt;Hello');
    expect((await get('/site/')).text).toContain('&lt;b&gt;Hello');
  });

  test.each(['in-js', 'in-ts', 'in-python'])('a new block %s greets', async (block) => {
    const answer = await post(`empty/blocks/${block}`, { 'action.greet': '', name: '<i>' });
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('Hello, &lt;i&gt;!')]);
    const twice = await get(`empty/blocks/${block}?name=a&name=b`);
    expect([twice.status, twice.text]).toEqual([200, expect.stringContaining('Hello, ')]);
  });
});

describe.skipIf(!hasBrowser)('in a browser', () => {
  const browser = useBrowser();

  const pages: [name: string, address: string, as: string][] = [
    ['home', '/site/', 'visitor'],
    ['guestbook', '/site/@@guestbook', 'visitor'],
    ['poll', '/site/@@apps/my-poll/blocks/poll', 'visitor'],
    ['comments', '/site/@@apps/my-comments/blocks/comments', 'una'],
    ['moderate', '/site/@@apps/my-comments/blocks/moderate', 'manager'],
    ['survey', '/site/@@apps/my-survey/blocks/survey', 'visitor'],
    ['glossary', '/site/@@apps/my-glossary/blocks/glossary', 'visitor'],
    ['rate', '/site/@@apps/my-rating/blocks/rate', 'visitor'],
  ];
  const schemes = ['light', 'dark'] as const;
  /** Each page in one colour scheme, in both with TEST_LOOKS=all. */
  const looks = pages.flatMap(([name, address, as], at) =>
    schemes
      .filter((_, scheme) => process.env.TEST_LOOKS === 'all' || at % 2 === scheme)
      .map((colorScheme) => ({ name, address, as, colorScheme })),
  );

  test.each(looks)('the page $name is accessible, $colorScheme', async ({ name, address, as, colorScheme }) => {
    const { page, context } = await browser.visitor({
      colorScheme,
      viewport: { width: 900, height: 700 },
      bypassCSP: true,
      extraHTTPHeaders: who[as],
    });
    await page.goto(host.url + address);
    expect(await violations(page)).toEqual([]);
    await keepPicture(page, `starter-${name}-${colorScheme}`);
    await context.close();
  });

  test('a vote, a wrong form and a new entry need no other page', async () => {
    const { page, context } = await browser.visitor();
    await page.goto(`${host.url}/site/@@apps/my-poll/blocks/poll`);
    await page.getByLabel('Thursday evening').check();
    await page.getByRole('button', { name: 'Vote' }).click();
    await page.getByText('Thank you for your vote.').waitFor();
    await page.goto(`${host.url}/site/@@guestbook`);
    await page.getByLabel('Your name').fill('Carla');
    await page.getByLabel('Your message').fill('From a browser');
    await page.getByRole('button', { name: 'Sign the guestbook' }).click();
    await page.getByText('From a browser').waitFor();
    expect(await page.getByLabel('Your name').inputValue()).toBe('');
    await context.close();
  });
});
