import type { Core } from '@strapi/strapi';

/** A tile: a block of one of the demo theme's apps, by `<app_id>/blocks/<block_id>`. */
const tile = (block: string) => ({ __component: 'tiles.block' as const, block });

const articles = [
  {
    title: 'Welcome',
    slug: 'welcome',
    summary: 'One card for books, films, music and a quiet table by the window.',
    body: `Anyone who lives, works or goes to school in Lindenau gets a card at the desk. It is free, and it takes two minutes.

## With your card

- borrow up to **30 items** for four weeks
- reserve what somebody else is reading
- use the printers, the sewing machine and the music room

Bring something with your name and address on it. Children under twelve come with an adult.`,
    secret: 'Private fields stay in the host: no block can read this one.',
    tiles: [tile('rating/blocks/rate')],
  },
  {
    title: 'A new room for children',
    slug: 'room-for-children',
    summary: 'Low shelves, a reading boat and stories every Saturday at ten.',
    body: `The old newspaper archive has become a room for children. The shelves are low enough to climb (please do not), the boat in
the middle seats six readers, and on Saturdays at ten somebody reads aloud.

> The boat is the best. You can read in it even when there is no water.
>
> *Mina, seven*`,
    tiles: [tile('rating/blocks/rate')],
  },
  {
    title: 'Reading group on Thursdays',
    slug: 'reading-group',
    summary: 'A novel a month, tea, and no homework.',
    body: `We meet on the first Thursday of each month at **19:00** in the garden room. You may come without having finished the book.

| Month | Book |
|---|---|
| September | Tove Jansson, *The Summer Book* |
| October | Chinua Achebe, *Things Fall Apart* |
| November | Wisława Szymborska, *View with a Grain of Sand* |`,
    tiles: [],
  },
];

const pages = [
  {
    title: 'About',
    slug: 'about',
    body: `The library was founded by the weavers of Lindenau in 1887, with 212 books and one lamp. Today 41,000 books, games and films
share the house with a repair café and the town's archive.

The site is a demo: its likes, comments, glossary, survey, poll, home delivery and contact form are small applications in the theme.`,
    tiles: [],
  },
  {
    title: 'Contact',
    slug: 'contact',
    body: 'Library of Lindenau, Mill Lane 4. Write to us: the editors read every message.',
    tiles: [],
  },
];

/** The language of the demo's second site, beside Strapi's default. */
const german = { code: 'de', name: 'German (de)' };

/** Makes a few published articles and pages, and the language of the second site. */
export async function makeContent(strapi: Core.Strapi): Promise<void> {
  for (const data of articles) await strapi.documents('api::article.article').create({ data, status: 'published' });
  for (const data of pages) await strapi.documents('api::page.page').create({ data });
  await strapi.plugin('i18n').service('locales').create(german);
}
