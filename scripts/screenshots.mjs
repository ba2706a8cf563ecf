/**
 * Makes the pictures of README.md in docs/images: starts the demo on a database of its own, fills it with some records, and
 * photographs its pages in Chromium (CHROMIUM_PATH, else the one on the path). Run it after a change of the demo's look:
 *
 *   node scripts/screenshots.mjs [name of a picture …]
 */
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { startHost } from '../benchmarks/support/host.mjs';
import { build, checkNode, findChromium, root, say, writeSecrets } from './prepare.mjs';

const images = join(root, 'docs', 'images');
const size = { width: 1280, height: 800 };

/** Pictures by name: the page, who sees it, and what is done before. */
const pictures = {
  site: { path: '/' },
  article: { path: '/articles/welcome', as: 'anna' },
  glossary: { path: '/@@glossary?q=book' },
  card: { path: '/@@card' },
  results: { path: '/@@apps/survey/blocks/results', as: 'rita' },
  moderation: { path: '/@@apps/comments/blocks/moderate', as: 'eric' },
};

/** Records of the demo's apps, sent by a user to a path of the site; a list is sent in bulk. */
const records = [
  {
    as: 'anna',
    path: '/@@apps/glossary/records',
    body: [
      {
        block: 'term',
        term: 'Interlibrary loan',
        meaning: 'A book that another library lends to ours, for you. It takes a week.',
        topics: ['Lending'],
      },
      {
        block: 'term',
        term: 'Shelf mark',
        meaning: 'The letters and numbers on a spine: where a book stands.',
        topics: ['Books'],
      },
      {
        block: 'term',
        term: 'Quarto',
        meaning: 'A book whose sheets were folded twice, about as tall as a hand is long.',
        topics: ['Books'],
      },
      {
        block: 'term',
        term: 'Short loan',
        meaning: 'Three days, for books that many people wait for.',
        topics: ['Lending'],
      },
    ],
  },
  {
    as: 'sam',
    path: '/articles/welcome/@@apps/comments',
    body: { block: 'comment', id: 'first', text: 'Two minutes is right. I have a card now!' },
  },
  {
    as: 'sam',
    path: '/articles/welcome/@@apps/comments',
    body: { block: 'comment', id: 'second', text: 'Can I bring my dog to the reading room?' },
  },
  {
    as: 'eric',
    path: '/articles/welcome/@@apps/comments',
    body: { block: 'comment', id: 'third', text: 'A quiet one, gladly. The garden room has a water bowl.' },
  },
  { as: 'eric', path: '/@@apps/comments/record/first', body: { state: 'approved' } },
  { as: 'eric', path: '/@@apps/comments/record/second', body: { state: 'approved' } },
  {
    as: 'sam',
    path: '/articles/welcome/@@apps/comments',
    body: { block: 'comment', id: 'fourth', text: 'Do you lend board games as well?' },
  },
  {
    as: 'mona',
    path: '/@@apps/survey/records',
    body: [9, 10, 7, 8, 10, 4].map((score, at) => ({
      block: 'questions',
      name: ['Ada', 'Grace', 'Linus', 'Margaret', 'Alan', 'Edsger'][at],
      frequency: ['daily', 'weekly', 'weekly', 'rarely', 'daily', 'rarely'][at],
      score,
      comment: ['More of this!', '', 'Longer hours on Saturdays, please.', '', 'Well done.', ''][at],
    })),
  },
  ...Array.from({ length: 7 }, () => ({ path: '/articles/welcome/@@apps/rating/blocks/rate/like', body: {} })),
];

const basic = (user, passwords) =>
  user ? { authorization: `Basic ${Buffer.from(`${user}:${passwords[user]}`).toString('base64')}` } : {};

async function fill(site, passwords) {
  for (const { as, path, body } of records) {
    const headers = { accept: 'application/json', 'content-type': 'application/json', ...basic(as, passwords) };
    const app = site + /^.*?\/@@apps\/\w+/.exec(path)[0];
    const token = (await fetch(app, { headers })).headers.get('x-csrf-token');
    const answer = await fetch(site + path, {
      method: 'POST',
      headers: { ...headers, 'x-csrf-token': token },
      body: JSON.stringify(body),
      redirect: 'manual',
    });
    if (answer.status >= 400) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  }
}

async function logIn(page, site, user, password) {
  await page.goto(`${site}/@@login`);
  await page.locator('#identifier').fill(user);
  await page.locator('#password').fill(password);
  await page.locator('main button').click();
  await page.waitForURL((url) => !url.pathname.endsWith('@@login'));
}

async function photograph(browser, site, passwords, name) {
  const { path, as } = pictures[name];
  const context = await browser.newContext({ viewport: size, colorScheme: 'light', locale: 'en-GB' });
  const page = await context.newPage();
  if (as) await logIn(page, site, as, passwords[as]);
  await page.goto(site + path, { waitUntil: 'load' });
  const file = join(images, `${name}.png`);
  // A short page is cut below its footer.
  const { y, height } = await page.locator('footer').boundingBox();
  await page.screenshot({
    path: file,
    clip: { x: 0, y: 0, width: size.width, height: Math.min(size.height, y + height) },
  });
  await context.close();
  say(`${file}, ${Math.round(statSync(file).size / 1024)} kB`);
}

async function main(names) {
  checkNode();
  writeSecrets();
  build('pluginServer', 'host');
  mkdirSync(images, { recursive: true });
  const folder = mkdtempSync(join(tmpdir(), 'apps-pictures-'));
  const database = { DATABASE_CLIENT: 'sqlite', DATABASE_FILENAME: join(folder, 'demo.db') };
  const host = await startHost({ ...database, APPS_DEMO: 'true', APPS_THEME: 'demo' }, join(root, 'themes'));
  try {
    const passwords = Object.fromEntries(
      [...host.printed().matchAll(/^ {2}(\w+) +(\S+)/gm)].map(([, user, password]) => [user, password]),
    );
    const site = `${host.url}/site`;
    await fill(site, passwords);
    const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking'];
    const browser = await chromium.launch({ executablePath: findChromium(), args });
    for (const name of names.length > 0 ? names : Object.keys(pictures)) {
      await photograph(browser, site, passwords, name);
    }
    await browser.close();
  } finally {
    await host.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

await main(process.argv.slice(2));
