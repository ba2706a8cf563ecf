import { describe, expect, test } from 'vitest';
import type { Host } from '../../support/host';
import { location, pathOf, visitor } from './visitor';

export function contact(host: Host): void {
  describe('contact, linked from another theme', () => {
    test('every visitor writes, and editors read and delete', async () => {
      const anonymous = visitor(host, 'contact', null);
      const message = { name: 'Tom', email: 'tom@example.org', message: 'Hello\nthere', _save: '1' };
      const sent = await anonymous.submit('blocks/message', message);
      expect([sent.status, location(sent)]).toEqual([303, '/site/@@apps/contact/blocks/message?sent=yes']);
      expect((await anonymous.open('blocks/message?sent=yes')).text).toContain('Thank you.');
      expect((await anonymous.open('blocks/inbox')).status).toBe(401);

      const eric = visitor(host, 'contact', 'eric');
      const { text } = await eric.open('blocks/inbox');
      expect(text).toContain('Hello\nthere');
      const path = pathOf(/name="_delete"[^>]* formaction="([^"]+)"/.exec(text)?.[1]);
      expect(location(await eric.submit(path, { _delete: '1' }))).toBe('/site/@@apps/contact/blocks/inbox');
      expect((await eric.open('blocks/inbox')).text).toContain('No messages.');
    });
  });
}
