import { describe, expect, test } from 'vitest';
import type { Host } from '../../support/host';
import { location, pathOf, visitor } from './visitor';

export function survey(host: Host): void {
  describe('survey', () => {
    const answers = {
      name: 'Tom',
      number: 'ABC-1234',
      email: 'tom@example.org',
      website: 'https://example.org',
      favourite: 'welcome',
      topics: 'News',
      frequency: 'weekly',
      score: '9',
      since: '2020-02-29',
      call: '2026-12-01T09:30',
      comment: 'Go on!',
      newsletter: '1',
      source: 'mail',
      _save: '1',
    };

    test('the form has every kind of field, and the articles to choose from', async () => {
      const { text } = await visitor(host, 'survey', null).open('blocks/questions?from=mail');
      const types = ['text', 'email', 'url', 'checkbox', 'radio', 'number', 'date', 'datetime-local', 'hidden'];
      for (const type of types) expect(text, type).toContain(`type="${type}"`);
      expect(text).toContain('<textarea');
      expect(text).toContain('<option value="welcome">Welcome</option>');
      expect(text).toMatch(/name="source" type="hidden" value="mail"/);
    });

    test('every visitor answers, and only readers and editors read', async () => {
      const anonymous = visitor(host, 'survey', null);
      const sent = await anonymous.submit('blocks/questions', answers);
      expect([sent.status, location(sent)]).toEqual([303, '/site/@@apps/survey/blocks/thanks']);
      const byProgram = { name: 'Ann', frequency: 'daily', score: 4, _save: '' };
      expect((await anonymous.post('blocks/questions', byProgram)).status).toBe(201);

      expect((await anonymous.get('records')).status).toBe(401);
      expect((await anonymous.open('blocks/results')).status).toBe(401);
      expect((await visitor(host, 'survey', 'sam').open('blocks/results')).status).toBe(403);

      const rita = visitor(host, 'survey', 'rita');
      const { json } = await rita.get<{ path: string; items: object }[]>('records');
      expect(json.map(({ items }) => items)).toEqual([
        expect.objectContaining({
          block: 'answer',
          verdict: 'fan',
          topics: ['News'],
          score: 9,
          newsletter: true,
          call: '2026-12-01T09:30',
          answered_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        }),
        expect.objectContaining({ block: 'answer', verdict: 'critic', score: 4 }),
      ]);
      expect((await rita.get('blocks/results/summary')).json).toEqual({ answers: 2, average: 6.5, balance: 0 });
      const { text } = await rita.open('blocks/results');
      expect(text).toContain('<strong>6.5</strong>');
      expect(text).toContain('Go on!');

      const one = pathOf(json[0]?.path);
      expect((await rita.open(one)).text).not.toContain('name="_delete"');
      expect((await rita.submit(one, { _delete: '1' })).status).toBe(403);
      const eric = visitor(host, 'survey', 'eric');
      expect(location(await eric.submit(one, { _delete: '1' }))).toBe('/site/@@apps/survey/blocks/results');
      expect((await eric.get('records')).json).toHaveLength(1);
    });

    test.each([
      [{ name: '' }, 'Please fill in this field.'],
      [{ number: 'abc' }, 'Please match the requested format'],
      [{ email: 'tom' }, 'Please enter an e-mail address'],
      [{ favourite: 'none-of-them' }, 'Please choose one of the options.'],
      [{ frequency: '' }, 'Please choose an option.'],
      [{ score: '11' }, 'Please enter 10 or less.'],
      [{ since: '1999-12-31' }, 'Please enter 2000-01-01 or more.'],
      [{ since: '9000-01-01' }, 'This day is still to come.'],
      [{ email: '' }, 'Please enter an address to which we can send the newsletter.'],
    ])('an answer with %o is refused', async (wrong, message) => {
      const { status, text } = await visitor(host, 'survey', null).submit('blocks/questions', { ...answers, ...wrong });
      expect(status).toBe(422);
      expect(text).toContain(message);
    });

    test('"Start over" leads back to an empty form', async () => {
      const reply = await visitor(host, 'survey', null).submit('blocks/questions', { 'action.start_over': '1' });
      expect([reply.status, location(reply)]).toEqual([303, '/site/@@apps/survey/blocks/questions']);
    });
  });
}
