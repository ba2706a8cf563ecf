import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Way } from './looks';

/** A page of the demo: whose it is, and what is done on it before it is looked at. */
export interface Row {
  name: string;
  path: string;
  as?: string;
  /** The block that it shows, `<app_id>/<block_id>`. */
  block?: string;
  before?: (page: Page) => Promise<unknown>;
  /** A page without the theme's layout. */
  bare?: boolean;
  /** Where it is a page in one way alone. */
  only?: Way;
}

/** Presses a button without the browser's own checks, and waits for what follows. */
const press = (button: string, follows: string) => async (page: Page) => {
  await page.evaluate(() => {
    for (const form of Array.from(document.forms)) form.setAttribute('novalidate', '');
  });
  await page.locator(`${button}:visible`).first().click();
  await page.waitForSelector(follows);
};

const refused = (button = 'main [name=_save]') => press(button, '[aria-invalid=true]');

/** Records that the pages show, by app and id, as logic leaves them. */
export const records: [app: string, id: string, items: object][] = [
  ['comments', 'games', { block: 'comment', text: 'Do you lend games?' }],
  ['glossary', 'quarto', { block: 'term', term: 'Quarto', meaning: 'Folded twice.', topics: ['Content'] }],
  ['survey', 'ada', { block: 'answer', name: 'Ada', frequency: 'daily', score: 9, comment: 'More!', topics: ['News'] }],
  [
    'card',
    'nora',
    {
      block: 'apply',
      name: 'Nora',
      email: 'nora@example.org',
      children: [{ first_name: 'Mina', birthday: '2019-04-02' }],
      proof: { name: 'bill.txt', url: '/uploads/bill.txt', mime: 'text/plain', size: 6 },
    },
  ],
  ['reading', 'nora', { block: 'register', name: 'Nora', email: 'nora@example.org', when: '2030-09-05T19:30' }],
  ['delivery', 'nora', { block: 'order', name: 'Nora', street: 'Mill Lane 4', code: '04177', town: 'Lindenau' }],
  [
    'contact',
    'hello',
    { block: 'letter', name: 'Ada', email: 'ada@example.org', message: 'Hello.', sent_at: '2026-01-02' },
  ],
];

/** Every page of the demo, in the order in which a visitor might open them. */
export const rows: Row[] = [
  { name: 'home', path: '/' },
  { name: 'article', path: '/articles/welcome' },
  { name: 'about', path: '/about' },
  { name: 'contact page', path: '/contact' },
  { name: 'German home', path: '/../bibliothek/' },
  { name: 'login', path: '/@@login' },
  { name: 'wrong login', path: '/@@login', before: press('main button', 'main [role=alert]') },
  { name: 'logout', path: '/@@logout', as: 'anna' },
  { name: '400', path: '/articles/welcome?locale=fr' },
  { name: '401', path: '/@@apps/comments/blocks/moderate' },
  { name: '403', path: '/@@apps/comments/blocks/moderate', as: 'anna' },
  { name: '404', path: '/nothing-here' },
  {
    name: '405',
    path: '/about',
    bare: true,
    before: async (page) => {
      await page.setContent(`<form method="post" action="${page.url()}"><button>Send</button></form>`);
      await Promise.all([page.waitForURL(/about/), page.click('button')]);
      await page.waitForSelector('h1');
    },
  },

  { name: 'glossary', path: '/@@glossary', block: 'glossary/list' },
  { name: 'found in the glossary', path: '/@@glossary?q=quarto' },
  { name: 'nothing found', path: '/@@glossary?q=nothing' },
  { name: 'German glossary', path: '/../bibliothek/@@glossary' },
  { name: 'term', path: '/@@apps/glossary/record/quarto' },
  { name: 'own term', path: '/@@apps/glossary/record/quarto', as: 'eric' },
  { name: 'term to edit', path: '/@@apps/glossary/record/quarto/edit', as: 'eric' },
  { name: 'new term', path: '/@@apps/glossary/blocks/term', as: 'anna', block: 'glossary/term' },
  { name: 'refused term', path: '/@@apps/glossary/blocks/term', as: 'anna', before: refused() },
  { name: 'German term', path: '/../bibliothek/@@apps/glossary/blocks/term', as: 'anna', before: refused() },

  { name: 'survey', path: '/@@survey', block: 'survey/questions' },
  { name: 'refused survey', path: '/@@survey', before: refused() },
  { name: 'survey in steps', path: '/@@survey-steps', block: 'survey/steps' },
  { name: 'thanks of the survey', path: '/@@apps/survey/blocks/thanks', block: 'survey/thanks' },
  { name: 'results', path: '/@@apps/survey/blocks/results', as: 'rita', block: 'survey/results' },
  { name: 'answer', path: '/@@apps/survey/record/ada', as: 'eric', block: 'survey/answer' },
  { name: 'answer to edit', path: '/@@apps/survey/record/ada/edit', as: 'eric' },

  { name: 'library card', path: '/@@card', block: 'card/apply' },
  { name: 'refused library card', path: '/@@card', before: refused('main [name=_next]') },
  {
    name: 'second page of the library card',
    path: '/@@card',
    before: async (page) => {
      await page.fill('[name=name]', 'Nora');
      await page.fill('[name=email]', 'nora@example.org');
      await press('main [name=_next]', '.apps-steps li:nth-child(2)[aria-current=step]')(page);
    },
  },
  { name: 'thanks of the library card', path: '/@@apps/card/blocks/thanks', block: 'card/thanks' },
  { name: 'application', path: '/@@apps/card/record/nora', as: 'eric' },
  {
    name: 'question before an application is deleted',
    path: '/@@apps/card/record/nora',
    as: 'eric',
    before: press('main [name=_delete]', '.apps-question'),
    // The browser script asks in a dialog.
    only: 'plain',
  },
  { name: 'application to edit', path: '/@@apps/card/record/nora/edit', as: 'eric' },

  { name: 'poll', path: '/@@poll', block: 'poll/vote' },
  { name: 'refused vote', path: '/@@poll', before: refused('[name="action.vote"]') },
  {
    name: 'vote',
    path: '/@@poll',
    before: async (page) => {
      await page.check('[name=evening][value=friday]');
      await press('[name="action.vote"]', 'main [role=status]')(page);
    },
  },

  { name: 'articles', path: '/@@apps/news/blocks/articles', block: 'news/articles' },
  { name: 'likes', path: '/articles/welcome/@@apps/rating/blocks/rate', block: 'rating/rate' },
  { name: 'most liked', path: '/@@most-liked', block: 'rating/most-liked' },
  { name: 'most liked, as a part', path: '/@@apps/rating/blocks/top', block: 'rating/top' },

  { name: 'comments', path: '/articles/welcome/@@apps/comments/blocks/comment', block: 'comments/comment' },
  {
    name: 'sent comment',
    path: '/articles/welcome/@@apps/comments/blocks/comment',
    as: 'sam',
    before: async (page) => {
      await page.fill('[name=text]', 'Do you lend games?');
      await press('main [name=_save]', 'main [role=status]')(page);
    },
  },
  { name: 'refused comment', path: '/articles/welcome/@@apps/comments/blocks/comment', as: 'sam', before: refused() },
  { name: 'comment', path: '/@@apps/comments/record/games', as: 'eric' },
  { name: 'comment to edit', path: '/@@apps/comments/record/games/edit', as: 'eric' },
  { name: 'comments to moderate', path: '/@@apps/comments/blocks/moderate', as: 'eric', block: 'comments/moderate' },
  {
    name: 'approved comment',
    path: '/@@apps/comments/blocks/moderate',
    as: 'eric',
    before: async (page) => {
      const boxes = page.locator('[name=chosen]');
      const left = (await boxes.count()) - 1;
      await boxes.first().check();
      await page.click('[name="action.approve"]');
      await expect.poll(() => boxes.count()).toBe(left);
    },
  },

  { name: 'screen', path: '/@@apps/comments/blocks/screen', as: 'eric', block: 'comments/screen' },
  { name: 'German screen', path: '/../bibliothek/@@apps/comments/blocks/screen', as: 'eric' },

  { name: 'reading', path: '/@@reading', block: 'reading/register' },
  { name: 'refused registration', path: '/@@reading', before: refused() },
  { name: 'German reading', path: '/../bibliothek/@@reading', before: refused() },
  { name: 'registration', path: '/@@apps/reading/record/nora', as: 'eric' },
  { name: 'guests', path: '/@@apps/reading/blocks/guests', as: 'eric', block: 'reading/guests' },

  { name: 'delivery', path: '/@@delivery', block: 'delivery/order' },
  { name: 'refused delivery', path: '/@@delivery', before: refused() },
  { name: 'German delivery', path: '/../bibliothek/@@delivery', before: refused() },
  { name: 'delivery to an address', path: '/@@apps/delivery/record/nora', as: 'eric' },
  { name: 'delivery to edit', path: '/@@apps/delivery/record/nora/edit', as: 'eric' },

  { name: 'contact', path: '/@@apps/contact/blocks/message', block: 'contact/message' },
  { name: 'refused message', path: '/@@apps/contact/blocks/message', before: refused() },
  { name: 'sent message', path: '/@@apps/contact/blocks/message?sent=yes' },
  { name: 'inbox', path: '/@@apps/contact/blocks/inbox', as: 'eric', block: 'contact/inbox' },
  { name: 'message', path: '/@@apps/contact/record/hello', as: 'eric', block: 'contact/letter' },
];
