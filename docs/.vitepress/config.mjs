/** The site of the documentation: `npm run docs` builds it into .cache/docs, `npm run docs:dev` serves it while you write. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { defineConfig } from 'vitepress';
import { anchorOf, docs, pageOf, plainBraces, repositoryOf, siteLinks } from './links.mjs';
import { sections } from './sections.mjs';

const root = resolve(docs, '..');
const repository = repositoryOf(join(root, 'plugins', 'apps', 'package.json'));

const titleOf = (page) => /^# (.+)$/m.exec(readFileSync(join(docs, page), 'utf8'))?.[1].replaceAll('`', '') ?? page;
const addressOf = (page) => `/${pageOf(page).replace(/(index)?\.md$/, '')}`;
const entry = (page) => ({ text: titleOf(page), link: addressOf(page) });

/** Pages of a section; a name that ends with `/` means all of a folder. */
const pagesOf = (names) =>
  names.flatMap((name) =>
    name.endsWith('/')
      ? readdirSync(join(docs, name))
          .filter((file) => file.endsWith('.md') && file !== 'README.md')
          .map((file) => name + file)
      : [name],
  );

const sidebar = sections.map(({ text, pages }) => ({ text, collapsed: true, items: pagesOf(pages).map(entry) }));

export default defineConfig({
  title: 'strapi-plugin-apps',
  description: 'Small applications in the theme of a Strapi site',
  lang: 'en',
  srcDir: docs,
  outDir: join(root, '.cache', 'docs'),
  cacheDir: join(root, '.cache', 'vitepress'),
  cleanUrls: true,
  rewrites: pageOf,
  // Addresses of the reader's own Strapi; tests open them.
  ignoreDeadLinks: 'localhostLinks',
  markdown: {
    html: false,
    anchor: { slugify: anchorOf },
    config: (md) => {
      siteLinks(md, repository);
      plainBraces(md);
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    nav: sections.map(({ text, pages }) => ({ text, link: addressOf(pagesOf(pages)[0]) })),
    sidebar,
    outline: [2, 3],
    ...(repository ? { socialLinks: [{ icon: 'github', link: repository }] } : {}),
  },
});
