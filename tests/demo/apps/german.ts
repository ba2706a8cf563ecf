import { describe, expect, test } from 'vitest';
import type { Host } from '../../support/host';
import { send } from '../../support/send';
import { printedPasswords } from './visitor';

/** Words of English that no German text has. */
const ENGLISH = /\b(?:the|please|and|of|your|this|that|with|there|you|are|not|for|from|error|request)\b/i;

/** The text of a page, its title and what screen readers say, without lines of code and what names another language. */
function germanOf(html: string): string {
  const own = html
    .replace(/<(script|style|template|pre)\b[\s\S]*?<\/\1>/g, '')
    .replace(/<(\w+)[^>]* lang="en"[^>]*>[\s\S]*?<\/\1>/g, '');
  const said = [...own.matchAll(/ (?:aria-label|title|placeholder|alt)="([^"]*)"/g)].map(([, text]) => text);
  return [own.replace(/<[^>]*>/g, ' '), ...said].join('\n');
}

/** The page is German, but for what says that it is in another language. */
export function expectGerman(html: string): void {
  expect(html).toMatch(/<html lang="de/);
  expect(ENGLISH.exec(germanOf(html))?.[0] ?? null, germanOf(html)).toBeNull();
}

/** Pages of the German site, those of errors included, for visitors and for those who see details. */
export function german(host: Host): void {
  describe('the German site', () => {
    test.each<[as: string | null, request: string, status: number]>([
      [null, 'GET ', 200],
      ['mona', 'GET ', 200],
      [null, 'GET @@most-liked', 200],
      [null, 'GET @@poll', 200],
      [null, 'GET @@delivery', 200],
      [null, 'GET @@reading', 200],
      [null, 'GET @@glossary?q=nichts', 200],
      ['anna', 'GET @@apps/glossary/blocks/term', 200],
      ['eric', 'GET @@apps/comments/blocks/moderate', 200],
      [null, 'GET @@login', 200],
      [null, 'GET @@login?next=/bibliothek/@@glossary', 200],
      [null, 'POST @@login', 403],
      [null, 'GET @@apps/comments/blocks/moderate', 401],
      ['anna', 'GET @@apps/comments/blocks/moderate', 403],
      [null, 'GET articles/willkommen', 404],
      ['mona', 'GET nirgends', 404],
      [null, 'GET @@nirgends', 404],
      [null, 'GET @@apps/glossary/record/nirgends', 404],
      [null, 'GET @@theme/demo/assets/nirgends.css', 404],
      [null, 'GET articles/welcome?locale=fr', 400],
      ['mona', 'GET articles/welcome?locale=fr', 400],
      [null, 'GET %ff', 400],
      [null, 'POST articles/welcome', 405],
      [null, 'POST @@glossary', 403],
      [null, 'POST @@glossary large', 413],
    ])('as %s, %s is %i, in German', async (name, request, status) => {
      const [method = '', path, size] = request.split(' ');
      const as = name === null ? null : { basic: [name, printedPasswords(host)[name] ?? ''] as [string, string] };
      const answer = await send(host.url, {
        method,
        path: `/bibliothek/${path}`,
        as,
        headers: { accept: 'text/html' },
        ...(method === 'POST' && { form: { q: size ? 'x'.repeat(3_000_000) : 'x' } }),
      });
      expect(answer.status, answer.text).toBe(status);
      expectGerman(answer.text);
    });
  });
}
