import { describe, expect, test } from 'vitest';
import type { Stage } from '../../support/stage';

const manyFields = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, '']));

/** What the service says on a site in French. */
export function frenchSite(stage: Stage): void {
  describe('the French site', () => {
    /** Texts of a page without those that say that they are English. */
    const french = (text: string) =>
      text.replace(/<(\w+)[^>]* lang="en"[^>]*>[\s\S]*?<\/\1>/g, '').replace(/<[^>]*>/g, '');

    test.each([
      ['anonymous', 'in debug mode'],
      ['mona', 'by a manager'],
    ])('has no English word in a block with mistakes, seen by %s %s', async (as) => {
      const { status, text } = await stage.send({ as, send: 'GET /fr/@@wrong', accept: 'text/html' });
      expect(status).toBe(200);
      expect(text).toMatch(/affichée : <span lang="en">apps\/marks\/blocks\/wrong\.js:1: Error: no &lt;reason&gt;/);
      expect(text).toContain('<span lang="en">UNDEFINED ELEMENT</span>');
      expect(text.match(/<span lang="en">/g)).toHaveLength(4);
      expect(french(text).replace(/\s+/g, ' ').trim()).toBe('Cette partie n’a pas pu être affichée : silentSigné');
    });

    test('has its own time in logic and layouts, and its dates in titles', async () => {
      const { text } = await stage.send({ send: 'GET /fr/@@apps/clock/blocks/day', accept: 'text/html' });
      expect(text).toContain('<title>Le 1 mars 2026, n° 2026</title>');
      expect(text).toMatch(/ Europe\/Paris 2026-06-30T22:00:00\.000Z true \+0[12]:00 Europe\/Paris/);
      const other = await stage.send({ send: 'GET /site/@@apps/clock/blocks/day/zone', accept: 'text/html' });
      expect(other.text).toMatch(/^\S+ 2026-0\S+Z true [+-]\d\d:\d\d$/);
    });

    test('has a browser script with its words', async () => {
      const script = await stage.send({ send: 'GET /fr/@@apps.js', accept: '*/*' });
      expect(script.text).toContain('"updated":"Mis à jour"');
      const tag = String(script.headers.etag);
      const again = await stage.send({ send: 'GET /fr/@@apps.js', accept: '*/*', headers: { 'if-none-match': tag } });
      expect(again.status).toBe(304);
      expect((await stage.send({ send: 'GET /site/@@apps.js', accept: '*/*' })).text).not.toContain('{appsWords:');
    });

    test.each([
      [
        'a form that is too large',
        { name: 'x'.repeat(3_000_000) },
        413,
        'Ce que vous avez envoyé est trop volumineux.',
      ],
      [
        'a form with too many fields',
        manyFields(5_000),
        400,
        'Le serveur ne comprend pas ce que le navigateur a envoyé.',
      ],
    ])('answers %s in French', async (_what, form, status, text) => {
      const answer = await stage.send({ send: 'POST /fr/@@words', accept: 'text/html', form });
      expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(text)]);
      expect(answer.text).toContain('lang="fr"');
    });
  });
}
