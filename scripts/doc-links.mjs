/**
 * Links to the documentation, in its pages and in the source: `docs/reference/rights.md#passwords` in a comment, a relative
 * link in a page. scripts/doc-links.test.mjs resolves each one.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join, posix, sep } from 'node:path';

/** Folders that hold no source of this repository. */
const ignored = new Set(['node_modules', 'dist', 'build', 'coverage', '.git', '.cache', '.tmp', '.strapi', 'uploads']);
const sources = new Set(['.ts', '.tsx', '.mts', '.mjs', '.js', '.py', '.md', '.html', '.yaml', '.yml', '.css']);

/** Paths of all source files and pages below a folder, relative to it, with `/`. */
export function sourcesBelow(root) {
  const filesIn = (folder) =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return ignored.has(entry.name) ? [] : filesIn(path);
      return entry.isFile() && sources.has(extname(entry.name)) ? [path.split(sep).join('/')] : [];
    });
  return filesIn('');
}

const withoutCodeBlocks = (page) => page.replace(/^( *)(`{3,}|~{3,}).*?^\1\2 *$/gms, '');

/** GitHub's anchors of a page: its headings without punctuation, in lower case, with `-` for spaces; `-1` for a second one. */
export function anchorsOf(page) {
  const seen = new Map();
  return [...withoutCodeBlocks(page).matchAll(/^#{1,6} +(.+?)(?: +#+)? *$/gm)].map(([, heading]) => {
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '')
      .replaceAll(' ', '-');
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  });
}

/** Names of pages from the root, as comments use them; with any number of `../` in front. Web addresses do not count. */
const PAGE = /(?<![\w-]\/)(?<![\w-])docs\/[\w./-]+?\.md(?:#[\w-]*)?/g;
const LINK = /\]\(([^)\s]+)\)/g;

/** The links of a file: each as written, and its path from the root with the anchor, if it has one. */
export function linksIn(path, text) {
  const links = [...text.matchAll(PAGE)].map(([link]) => ({ link, target: link }));
  if (!path.endsWith('.md')) return links;
  const prose = withoutCodeBlocks(text).replace(/`[^`\n]*`/g, '');
  const relative = [...prose.matchAll(LINK)].map(([, link]) => link).filter((link) => !/^[a-z]+:|^\//.test(link));
  const resolve = (link) => (link.startsWith('#') ? path + link : posix.join(dirname(path), link));
  return [...links, ...relative.map((link) => ({ link, target: resolve(link) }))];
}

/** This file's examples have no targets. */
const EXAMPLES = 'scripts/doc-links.test.mjs';

/** References to a specification that is not in the repository. */
const FOREIGN = [/\bcontract,?[\s*/#]+sections?\b/gi, /(?<![\w-])interface\.md\b/g];

/** The broken links of one file: a sentence for each. `readPage` gives the text of a page, or null. */
export function wrongLinks(path, text, readPage) {
  const foreign = FOREIGN.flatMap((pattern) => text.match(pattern) ?? []).map(
    (found) => `"${found}" is not in this repository: name the page and heading of docs/reference`,
  );
  const wrong = linksIn(path, text).flatMap(({ link, target }) => {
    const [page, anchor] = target.split('#');
    const found = readPage(page);
    if (found === null) return [`${link}: there is no ${page}`];
    if (anchor === undefined || anchorsOf(found).includes(anchor)) return [];
    return [`${link}: ${page} has no heading #${anchor}`];
  });
  return [...foreign, ...wrong];
}

/** All broken links of the sources below a folder, each with its file. */
export function wrongLinksBelow(root) {
  const pages = new Map();
  const readPage = (path) => {
    if (!pages.has(path)) {
      const isThere = existsSync(join(root, path));
      pages.set(path, isThere ? (path.endsWith('.md') ? readFileSync(join(root, path), 'utf8') : '') : null);
    }
    return pages.get(path);
  };
  return sourcesBelow(root)
    .filter((path) => path !== EXAMPLES)
    .flatMap((path) =>
      wrongLinks(path, readFileSync(join(root, path), 'utf8'), readPage).map((wrong) => `${path}: ${wrong}`),
    );
}
