import type { Core } from '@strapi/strapi';

/** A tile: a block of one of the demo theme's apps, by `<app_id>/blocks/<block_id>`. */
const tile = (block: string) => ({ __component: 'tiles.block' as const, block });

const articles = [
  {
    title: 'Welcome',
    slug: 'welcome',
    summary: 'A site whose theme holds small applications.',
    body: 'The button below this text is a block of the app “rating”. Press it: no login is needed.',
    secret: 'Private fields stay in the host: no block can read this one.',
    tiles: [tile('rating/blocks/rate')],
  },
  {
    title: 'How blocks are made',
    slug: 'how-blocks-are-made',
    summary: 'A layout, a logic file and a definition.',
    body: 'A block is three files that share a name: Liquid for how it looks, JavaScript or TypeScript for what it does, YAML for what it holds.',
    tiles: [tile('rating/blocks/rate')],
  },
  {
    title: 'Records, not tables',
    slug: 'records-not-tables',
    summary: 'Small pieces of data, indexed and searched.',
    body: 'Survey answers, comments, ratings: an app keeps them as records, and declares which of their items can be searched.',
    tiles: [],
  },
];

const pages = [
  { title: 'About', slug: 'about', body: 'This site shows what the plugin can do.', tiles: [] },
  { title: 'Contact', slug: 'contact', body: 'Write to us: the editors read every record.', tiles: [] },
];

/** Makes a few published articles and pages. */
export async function makeContent(strapi: Core.Strapi): Promise<void> {
  for (const data of articles) await strapi.documents('api::article.article').create({ data, status: 'published' });
  for (const data of pages) await strapi.documents('api::page.page').create({ data });
}
