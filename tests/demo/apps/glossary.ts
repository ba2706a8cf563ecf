import { describe, expect, test } from 'vitest';
import type { Host } from '../../support/host';
import { location, visitor } from './visitor';

export function glossary(host: Host): void {
  describe('glossary', () => {
    const cafe = { term: 'Café', meaning: 'Where editors <meet>.', topics: 'Content', _save: '1' };

    test('an author adds, finds, changes and deletes a term', async () => {
      const anna = visitor(host, 'glossary', 'anna');
      const added = await anna.submit('blocks/term', cafe);
      expect([added.status, location(added)]).toEqual([303, '/site/@@apps/glossary/record/cafe']);
      const second = await anna.submit('blocks/term', { ...cafe, meaning: 'Another one.' });
      expect(location(second)).toBe('/site/@@apps/glossary/record/cafe-1');

      const shown = await anna.open('record/cafe');
      expect(shown.text).toContain('Where editors &lt;meet&gt;.');
      expect(shown.text).toContain('name="_edit"');
      expect((await anna.open('record/cafe/edit')).text).toContain('value="Café"');
      const changed = await anna.submit('record/cafe', { ...cafe, meaning: 'A place for coffee.' });
      expect([changed.status, location(changed)]).toEqual([303, '/site/@@apps/glossary/record/cafe']);

      const anonymous = visitor(host, 'glossary', null);
      const searches: [string, string[]][] = [
        ['q=CAFE', ['cafe', 'cafe-1']],
        ['q=coff*', ['cafe']],
        ['q=coffee&topic=Web', []],
        ['topic=Content', ['cafe', 'cafe-1']],
      ];
      for (const [query, ids] of searches) {
        const { text } = await anonymous.open(`blocks/list?${query}`);
        expect([...text.matchAll(/record\/([\w-]+)"/g)].map(([, id]) => id).sort(), query).toEqual(ids);
      }

      const deleted = await anna.submit('record/cafe-1', { _delete: '1' });
      expect([deleted.status, location(deleted)]).toEqual([303, '/site/@@apps/glossary/blocks/list']);
      expect((await anonymous.get('record/cafe-1')).status).toBe(404);
    });

    test('the form says what is wrong, and keeps what was entered', async () => {
      const { status, text } = await visitor(host, 'glossary', 'anna').submit('blocks/term', {
        term: 'Draft',
        meaning: '',
        _save: '1',
      });
      expect(status).toBe(422);
      expect(text).toContain('value="Draft"');
      expect(text).toContain('Please fill in this field.');
    });

    test.each([
      [null, 303, 401],
      ['rita', 303, 403],
      ['sam', 303, 403],
      ['eric', 200, 200],
      ['mona', 200, 200],
    ])('for %s, the form of a term is %i, and changing the term of another is %i', async (name, form, change) => {
      const who = visitor(host, 'glossary', name);
      const opened = await who.open('blocks/term');
      expect(opened.status).toBe(form);
      const saved = await who.submit('blocks/term', { term: `By ${name}`, meaning: 'A term.', _save: '1' });
      expect(location(saved)).toBe(
        form === 200 ? `/site/@@apps/glossary/record/by-${name}` : '/site/@@apps/glossary/blocks/list',
      );
      expect((await who.get(`record/by-${name}`)).status).toBe(form === 200 ? 200 : 404);
      const shown = await who.open('record/cafe');
      expect(shown.text.includes('name="_edit"')).toBe(change === 200);
      expect((await who.patch('record/cafe', { topics: ['Web'] })).status).toBe(change);
    });
  });
}
