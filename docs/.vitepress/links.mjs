/**
 * Pages are written for GitHub and for the site: links and anchors are GitHub's. Here they become the site's: README.md is a
 * folder's index, and what is not below docs/ leads to the repository, or is text where its address is not known.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, posix, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const docs = resolve(dirname(fileURLToPath(import.meta.url)), '..');

/** The site's name of a page: a folder's README.md is its index. */
export const pageOf = (path) => path.replace(/(^|\/)README\.md$/, '$1index.md');

/** GitHub's anchor of a heading; markdown-it-anchor numbers equal ones as GitHub does. */
export const anchorOf = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-');

/** The repository's address on the web by the package's `repository`, or null. */
export function repositoryOf(manifest) {
  const { repository } = JSON.parse(readFileSync(manifest, 'utf8'));
  const url = typeof repository === 'string' ? repository : repository?.url;
  const found = /(?:github\.com[/:]|^github:)([\w.-]+\/[\w.-]+?)(?:\.git)?$/.exec(url ?? '');
  return found ? `https://github.com/${found[1]}` : null;
}

/**
 * What the site makes of a link of a page.
 * @param page path of the page below docs/
 * @returns the link, or null for text without a link
 */
export function linkOf(page, href, repository) {
  if (/^([a-z]+:|\/|#)/i.test(href)) return href;
  const [path, anchor] = href.split('#');
  const target = posix.join(posix.dirname(page), path);
  const isPage = !target.startsWith('..') && (target.endsWith('.md') || isFolder(join(docs, target)));
  if (isPage) return pageOf(path) + (anchor === undefined ? '' : `#${anchor}`);
  if (!existsSync(join(docs, target))) return href;
  return repository && `${repository}/blob/main/${posix.join('docs', target)}`;
}

const isFolder = (path) => existsSync(path) && statSync(path).isDirectory();

/** A plugin for markdown-it that rewrites the links of a page, and leaves out its comments. */
export function siteLinks(md, repository) {
  md.core.ruler.before('block', 'no_comments', (state) => {
    state.src = state.src.replace(/^<!--.*-->$/gm, '');
  });
  md.core.ruler.push('site_links', ({ tokens, env }) => {
    for (const { children } of tokens) {
      const open = [];
      for (const token of children ?? []) {
        if (token.type === 'link_open') {
          const href = linkOf(env.relativePath ?? '', token.attrGet('href'), repository);
          open.push(href);
          if (href) token.attrSet('href', href);
          else Object.assign(token, { type: 'text', tag: '', nesting: 0, content: '' });
        } else if (token.type === 'link_close' && !open.pop()) {
          Object.assign(token, { type: 'text', tag: '', nesting: 0, content: '' });
        }
      }
    }
  });
}

/** Makes doubled braces text: the pages are about Liquid, and Vue would read them as its own. */
export function plainBraces(md) {
  const render = md.render;
  md.render = (...args) => render.apply(md, args).replaceAll('{{', '&#123;&#123;');
}
