import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const axe = createRequire(__filename).resolve('axe-core/axe.min.js');

interface Violation {
  id: string;
  nodes: { html: string; failureSummary: string }[];
}

interface Axe {
  run(parts: Parts): Promise<{ violations: Violation[] }>;
}

/** Selectors of the parts of a page that are looked at, and of what is left out of them. */
interface Parts {
  include: string[];
  exclude?: string[];
}

/** Violations that axe-core finds in a page, or in parts of it. */
export async function violations(page: Page, parts: Parts = { include: ['html'] }): Promise<string[]> {
  await page.addScriptTag({ path: axe });
  const found = await page.evaluate(
    async (parts) => (await (window as unknown as { axe: Axe }).axe.run(parts)).violations,
    parts,
  );
  return found.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`));
}
