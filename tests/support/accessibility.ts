import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';

const axe = createRequire(__filename).resolve('axe-core/axe.min.js');

interface Violation {
  id: string;
  nodes: { html: string; failureSummary: string }[];
}

interface Axe {
  run(parts: Parts, options: object): Promise<{ violations: Violation[] }>;
}

/** Selectors of the parts of a page that are looked at, and of what is left out of them. */
interface Parts {
  include: string[];
  exclude?: string[];
}

/** Violations that axe-core finds in a page, or in parts of it. */
export async function violations(page: Page, parts: Parts = { include: ['html'] }): Promise<string[]> {
  await page.addScriptTag({ path: axe });
  // What passes is not described, and style sheets are not loaded again for the one rule that reads them, which is not in use.
  const options = { resultTypes: ['violations'], preload: false };
  const found = await page.evaluate(
    async ([parts, options]) => (await (window as unknown as { axe: Axe }).axe.run(parts, options)).violations,
    [parts, options] as const,
  );
  return found.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`));
}

/** One page a browser for the copies, as opening another takes as long as looking at it. */
const copies = new WeakMap<Browser, Promise<Page>>();

function copyPage(browser: Browser): Promise<Page> {
  const known = copies.get(browser) ?? browser.newContext({ bypassCSP: true }).then((context) => context.newPage());
  copies.set(browser, known);
  return known;
}

/**
 * The same for a page in which scripts are off, so that axe-core cannot run there: it looks at a copy, which has no script, the
 * content of `noscript`, and the same size and colours.
 */
export async function violationsWithoutScript(page: Page): Promise<string[]> {
  const html = (await page.content()).replace(/<script\b[\s\S]*?<\/script>|<\/?noscript[^>]*>/g, '');
  const isDark = await page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches);
  const browser = page.context().browser();
  if (!browser) throw new Error('The page has no browser');
  const copy = await copyPage(browser);
  const size = page.viewportSize();
  if (size) await copy.setViewportSize(size);
  await copy.emulateMedia({ colorScheme: isDark ? 'dark' : 'light' });
  const isPage = (url: URL) => url.href === page.url();
  await copy.route(isPage, (route) => route.fulfill({ contentType: 'text/html', body: html }));
  try {
    await copy.goto(page.url());
    return await violations(copy);
  } finally {
    await copy.unroute(isPage);
  }
}
