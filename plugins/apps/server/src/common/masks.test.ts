import { expect, test } from 'vitest';
import { createMasks, MASK, maskedLog, withoutAddresses, withoutPersons } from './masks';

test.each([
  ['mail to anna@example.org failed', `mail to ${MASK} failed`],
  ['<anna.b+c@mail.example.org>, x@y', `<${MASK}>, ${MASK}`],
  ['/form?mail=anna%40example.org&a=1', `/form?mail=${MASK}&a=1`],
  ["O'Neil@example.org!", `${MASK}!`],
  ['anna@bücher.example', MASK],
  ['{"mail":"anna@example.org"}', `{"mail":"${MASK}"}`],
  ['a &lt;anna&#64;example.org&gt;', /^a &lt;.*hidden@person\.invalid&gt;$/],
  ['at /app/node_modules/@strapi/core/index.js:1', 'at /app/node_modules/@strapi/core/index.js:1'],
  ['.pnpm/vue@3.2.1/node_modules', '.pnpm/vue@3.2.1/node_modules'],
  ['/site/@@apps/rating', '/site/@@apps/rating'],
  ['no address', 'no address'],
  [MASK, MASK],
])('%s', (text, expected) => {
  if (typeof expected === 'string') expect(withoutAddresses(text)).toBe(expected);
  else expect(withoutAddresses(text)).toMatch(expected);
});

test('a long text without an address costs little', () => {
  const begun = performance.now();
  withoutAddresses(`${'a'.repeat(200_000)} @`);
  withoutAddresses('a@'.repeat(100_000));
  expect(performance.now() - begun).toBeLessThan(2_000);
});

test('values under the names of persons are masked whatever they are, others where they have an address', () => {
  const given = {
    email: 'anna at example',
    'guests:0:email': ['anna', 'ben'],
    note: 'by anna@example.org',
    list: [{ email: 5, n: 1 }],
    empty: { email: '', other: null },
  };
  expect(withoutPersons(given, new Set(['email']))).toEqual({
    email: MASK,
    'guests:0:email': [MASK, MASK],
    note: `by ${MASK}`,
    list: [{ email: MASK, n: 1 }],
    empty: { email: '', other: null },
  });
});

test('nothing is masked before an app has persons, and where the configuration shows them', () => {
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const log = { info: write, warn: write, error: write };
  const [masks, shown] = [createMasks(false), createMasks(true)];
  maskedLog(log, masks).info('a@b.example');
  masks.begin();
  shown.begin();
  maskedLog(log, masks).error('a@b.example');
  maskedLog(log, shown).warn('a@b.example');
  expect(lines).toEqual(['a@b.example', MASK, 'a@b.example']);
});
