import { describe, expect, test } from 'vitest';
import type { Host } from '../../support/host';
import { visitor } from './visitor';

export function rating(host: Host): void {
  describe('rating', () => {
    const like = (name: string | null, slug: string) =>
      visitor(host, 'rating', name, `/articles/${slug}`).submit('blocks/rate', { 'action.like': '1' });

    test('the rating app counts likes, one record a page, and lists the most liked', async () => {
      const answer = await like(null, 'welcome');
      expect(answer.status).toBe(200);
      expect(answer.text).toContain('1 like<');
      expect((await like('rita', 'welcome')).text).toContain('2 likes');
      expect((await like(null, 'reading-group')).text).toContain('1 like<');

      const anonymous = visitor(host, 'rating', null);
      const { json } = await anonymous.get<{ id: string; items: object }[]>('records');
      expect(json.map(({ items }) => items)).toEqual([
        { id: '/articles/welcome', total: 2 },
        { id: '/articles/reading-group', total: 1 },
      ]);
      const { text } = await anonymous.open('blocks/top');
      expect(text).toMatch(/Welcome<\/a>.*Reading group on Thursdays<\/a>/s);
    });

    test('many likes at once all count', async () => {
      await Promise.all(Array.from({ length: 10 }, () => like(null, 'room-for-children')));
      const article = visitor(host, 'rating', null, '/articles/room-for-children');
      expect((await article.get('blocks/rate/likes')).json).toEqual({ total: 10, text: '10 likes' });
    });

    test('records cannot be written but by the block', async () => {
      expect((await visitor(host, 'rating', null).post('', { total: 99 })).status).toBe(401);
      expect((await visitor(host, 'rating', 'eric').put('record//articles/welcome', { total: 99 })).status).toBe(403);
    });

    test('a message of the log comes with the page, in debug mode', async () => {
      expect((await like(null, 'welcome')).text).toContain('/articles/welcome is liked: 3');
    });
  });
}
