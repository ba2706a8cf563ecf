import { PassThrough } from 'node:stream';
import type { Context } from 'koa';
import { scriptTag } from '../../apps';
import { contentVersion } from '../../common/content-version';
import { AppsError, methodNotAllowed } from '../../common/errors';
import type { Reloads } from '../request/exchange';

/** Milliseconds between two looks at the files while a page waits. */
const INTERVAL = 400;

/** Pages that wait at a time: each browser tab is one. */
const MAX_PAGES = 100;

/** @param version a text that differs when a file has changed */
export function createReloads(version: () => Promise<string>): Reloads {
  const pages = new Set<PassThrough>();
  let current = '';
  let timer: NodeJS.Timeout | undefined;

  const hashed = async () => contentVersion(await version());

  const look = async () => {
    const next = await hashed();
    if (next !== current) for (const page of pages) send(page, next);
    current = next;
    clearTimeout(timer);
    if (pages.size > 0) timer = setTimeout(look, INTERVAL);
  };

  return {
    version: hashed,
    answer(ctx) {
      if (ctx.method !== 'GET') throw methodNotAllowed('GET');
      if (pages.size >= MAX_PAGES) throw new AppsError('ServiceUnavailableError', 'Too many pages wait for changes');
      const page = new PassThrough();
      pages.add(page);
      page.on('close', () => pages.delete(page));
      ctx.status = 200;
      ctx.type = 'text/event-stream';
      ctx.set({ 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' });
      ctx.body = page;
      page.write('retry: 500\n\n');
      // The page compares: it may have been made before the last look.
      current = '';
      void look();
    },
    destroy() {
      clearTimeout(timer);
      for (const page of pages) page.end();
      pages.clear();
    },
  };
}

const send = (page: PassThrough, version: string) => page.write(`event: version\ndata: ${version}\n\n`);

/**
 * Adds the script that reloads a page to an answer that is a whole HTML document.
 * @param version of the files before the answer was made
 */
export function addReloadScript(ctx: Context, site: string, version: string): void {
  if (typeof ctx.body !== 'string' || !ctx.response.is('html') || !isDocument.test(ctx.body)) return;
  // At the end, because a theme may leave out closing tags.
  ctx.body += `${scriptTag(`${site}/@@apps.reload.js?version=${version}`)}\n`;
}

const isDocument = /^\s*<!doctype html/i;
