import { describe, expect, test } from 'vitest';
import type { Host } from '../../support/host';
import { location, visitor } from './visitor';

export function delivery(host: Host): void {
  describe('delivery', () => {
    const order = (code: string) =>
      visitor(host, 'delivery', null).submit('blocks/order', { name: 'Nora', street: 'Mill Lane 4', code, _save: '1' });

    test('a web service on this machine gives the town of a postal code', async () => {
      const sent = await order('04177');
      expect([sent.status, location(sent)]).toEqual([303, '/site/@@apps/delivery/blocks/order']);
      const { json } = await visitor(host, 'delivery', 'eric').get<{ items: { code: string; town: string } }[]>(
        'records',
      );
      expect(json.map(({ items: { code, town } }) => [code, town])).toEqual([['04177', 'Lindenau']]);
    });

    test('a postal code that does not exist is refused beside its field, also in German', async () => {
      const refused = await order('99999');
      expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('There is no such postal code.')]);
      const form = { name: 'Nora', street: 'Mühlgasse 4', code: '99999', _save: '1' };
      const german = await visitor(host, 'delivery', null).submit('/bibliothek/@@delivery', form);
      expect([german.status, german.text]).toEqual([422, expect.stringContaining('Diese Postleitzahl gibt es nicht.')]);
    });
  });
}
