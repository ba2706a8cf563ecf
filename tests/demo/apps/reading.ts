import { describe, expect, test } from 'vitest';
import type { Host } from '../../support/host';
import { send } from '../../support/send';
import { location, visitor } from './visitor';

export function reading(host: Host): void {
  describe('a reading with twelve places', () => {
    const register = async (name: string) => {
      const form = { name, email: `${name}@example.org`, _save: '1' };
      const sent = await visitor(host, 'reading', null).submit('blocks/register', form);
      expect([sent.status, location(sent)], sent.text).toEqual([303, '/site/@@apps/reading/blocks/register']);
    };
    /** The link in the latest mail to a guest, as the demo prints mails. */
    const mailed = async (name: string, kind: string) => {
      const mails = new RegExp(`To ${name}@example\\.org: [^]*?(/site/@@apps/reading/${kind}/[\\w-]+)`, 'g');
      const links = () => [...host.output().matchAll(mails)];
      await expect.poll(() => links().length, { timeout: 20_000 }).toBeGreaterThan(0);
      return links().at(-1)?.[1] ?? '';
    };
    /** What an address of a mail is asked for as JSON, by its token alone. */
    const ask = async (method: string, path: string) => {
      const answer = await send(host.url, { method, path, as: null, headers: { accept: 'application/json' } });
      expect(answer.status, `${path}: ${answer.text}`).toBe(200);
      return answer.json;
    };
    const states = async () => {
      const { json } = await visitor(host, 'reading', 'eric').get<{ items: { name: string; _state?: string } }[]>(
        'records',
      );
      return Object.fromEntries(json.map(({ items }) => [items.name, items._state ?? 'place']));
    };

    test('the thirteenth guest waits until another one withdraws', async () => {
      const guests = Array.from({ length: 13 }, (_, at) => `guest${at + 1}`);
      for (const guest of guests) await register(guest);
      expect(new Set(Object.values(await states()))).toEqual(new Set(['unconfirmed']));
      for (const guest of guests)
        expect(await ask('POST', await mailed(guest, 'confirm'))).toEqual({ success: 'confirmed' });
      expect(await states()).toMatchObject({ guest1: 'place', guest12: 'place', guest13: 'waiting' });
      const own = await mailed('guest2', 'mine');
      expect(await ask('DELETE', own)).toEqual({ success: 'deleted' });
      await expect.poll(states).toMatchObject({ guest13: 'place' });
      const page = await visitor(host, 'reading', 'eric').open('blocks/guests');
      expect(page.text).toContain('12 places');
      expect(page.text).not.toContain('Waiting list');
    });
  });
}
