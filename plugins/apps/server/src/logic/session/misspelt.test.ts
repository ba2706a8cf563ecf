import { expect, test } from 'vitest';
import { misspeltMember } from './outcome';

test.each([
  ['  return context.app.get_recrod("x");', ', did you mean "app.get_record"?'],
  ['const { title } = context.contnet;', ', did you mean "context.content"?'],
  ['record.sav()', ', did you mean "record.save"?'],
  ['context.app.get_record("x").title', ''],
  ['other.get_recrod()', ''],
  ['record.total.x', ''],
  [`${'x'.repeat(2_000)}context.contnet`, ''],
])('%j%s', (line, hint) => {
  expect(misspeltMember(line)).toBe(hint);
});
