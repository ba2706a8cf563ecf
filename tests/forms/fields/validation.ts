import { describe, expect, test } from 'vitest';
import type { Stage } from '../../support/stage';
import { formOf, needed, tags } from './form';

export function validation(stage: Stage): void {
  const { post } = formOf(stage);

  describe('validation', () => {
    const cases: [field: string, entered: string | string[]][] = [
      ['text', ''],
      ['text', 'x'],
      ['text', 'x'.repeat(21)],
      ['text', 'UPPER CASE'],
      ['email', 'no address'],
      ['email', 'a@b@c'],
      ['url', 'no address'],
      ['url', 'javascript:alert(1)'],
      ['number', 'seven'],
      ['number', '0'],
      ['number', '11'],
      ['number', '1.5'],
      ['number', 'Infinity'],
      ['number', '0x5'],
      ['when', 'yesterday'],
      ['when', '2026-13-01T00:00'],
      ['when', '2026-02-30T00:00'],
      ['day', '01/02/2026'],
      ['day', '2026-02-30'],
      ['day', '2019-12-31'],
      ['day', '2031-01-01'],
      ['choice', 'three'],
      ['many', ['a', 'd']],
      ['radio', '3'],
      ['checks', ['x', 'w']],
      ['checks', 'constructor'],
      ['computed', 'green'],
    ];
    test.each(cases)('the field %s refuses %j', async (field, entered) => {
      const before = await stage.send<unknown[]>({ send: 'GET forms/records' });
      const form = { ...needed, [field]: entered };
      const json = await post(form, 'application/json');
      expect(json.status).toBe(422);
      expect(json.json.error).toMatchObject({ status: 422, name: 'ValidationError' });
      expect(json.json.error.details.errors).toEqual([{ path: [field], message: expect.stringMatching(/\S/) }]);
      const page = await post(form);
      expect(page.status).toBe(422);
      expect(page.headers['content-type']).toContain('text/html');
      const after = await stage.send<unknown[]>({ send: 'GET forms/records' });
      expect(after.json).toHaveLength(before.json.length);
    });

    test('every wrong field is named, and entered values are kept and escaped', async () => {
      const form = {
        ...needed,
        text: '<B>"UP"',
        email: 'bad mail',
        number: '99',
        choice: 'two',
        checks: ['x', 'y'],
        day: '2026-03-01',
      };
      const json = await post(form, 'application/json');
      expect(json.json.error.details.errors.map(({ path }) => path[0])).toEqual(['text', 'email', 'number']);
      const { text } = await post(form);
      expect(text).not.toContain('<B>');
      expect(tags(text, 'text')[0]).toContain('value="&lt;B&gt;&quot;UP&quot;"');
      expect(tags(text, 'email')[0]).toContain('value="bad mail"');
      expect(tags(text, 'number')[0]).toContain('value="99"');
      expect(tags(text, 'day')[0]).toContain('value="2026-03-01"');
      expect(text).toMatch(/<option[^>]*value="two"[^>]*selected|<option[^>]*selected[^>]*value="two"/);
      expect(tags(text, 'checks').filter((tag) => tag.includes('checked'))).toHaveLength(2);
      for (const { message } of json.json.error.details.errors) expect(text).toContain(message.replace(/"/g, '&quot;'));
    });
  });
}
