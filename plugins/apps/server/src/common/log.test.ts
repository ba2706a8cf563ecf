import { describe, expect, test } from 'vitest';
import {
  createMasks,
  type FormattedLogger,
  logAsJson,
  MASK,
  maskedLog,
  printable,
  printableLog,
  withoutAddresses,
  withoutPersons,
} from './log';

test.each([
  ['plain text, 10 % of it: é 🍎', 'plain text, 10 % of it: é 🍎'],
  ['two\nlines', 'two\\nlines'],
  ['a\r\nb\tc', 'a\\u000d\\nb\\u0009c'],
  ['\u001b[2Jred\u0007', '\\u001b[2Jred\\u0007'],
  ['\u0085\u009b31m', '\\u0085\\u009b31m'],
  ['a\u2028b\u2029c', 'a\\u2028b\\u2029c'],
  ['user\u202egnp', 'user\\u202egnp'],
  ['x'.repeat(30_000), `${'x'.repeat(20_000)}…`],
])('%j is written %j', (text, written) => {
  expect(printable(text)).toBe(written);
});

test('every level is printable', () => {
  const lines: string[] = [];
  const note = (message: string) => void lines.push(message);
  const log = printableLog({ info: note, warn: note, error: note });
  for (const level of ['info', 'warn', 'error'] as const) log[level](`${level}\u001b\nforged`);
  expect(lines).toEqual(['info\\u001b\\nforged', 'warn\\u001b\\nforged', 'error\\u001b\\nforged']);
});

describe('the form of JSON', () => {
  const MESSAGE = Symbol.for('message');
  /** The text of a line, as winston takes it. */
  const written = (line: { level: string; message: unknown; stack?: unknown }, fields?: Record<string, string>) => {
    const logger: FormattedLogger = {};
    logAsJson(logger, () => fields);
    const formed = logger.format?.transform(line) as { [MESSAGE]?: string };
    return String(formed[MESSAGE]);
  };
  const circular: Record<string, unknown> = {};
  circular.self = circular;

  test.each<[string, { level: string; message: unknown; stack?: unknown }, object]>([
    ['a text', { level: 'info', message: 'é 🍎 "quoted"' }, { level: 'info', message: 'é 🍎 "quoted"' }],
    ['several lines', { level: 'warn', message: 'a\nb' }, { message: 'a\nb' }],
    [
      'an error of winston, by its stack',
      { level: 'error', message: 'short', stack: 'Error: long' },
      { message: 'Error: long' },
    ],
    ['an object', { level: 'info', message: { a: [1] } }, { message: '{"a":[1]}' }],
    ['an object that JSON cannot say', { level: 'info', message: circular }, { message: '[object Object]' }],
    ['nothing', { level: 'info', message: undefined }, { message: 'undefined' }],
    [
      'control characters',
      { level: 'info', message: '\u001b[2J\u0085\u009b\u2028\u202e' },
      { message: '\u001b[2J\u0085\u009b\u2028\u202e' },
    ],
  ])('%s is one printable line', (_title, line, said) => {
    const text = written(line);
    expect(text).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u);
    expect(JSON.parse(text)).toMatchObject(said);
  });

  test('it has the time, and what is known of the request', () => {
    expect(JSON.parse(written({ level: 'info', message: 'x' }, { request: 'id', site: 'site', app: 'like' }))).toEqual({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      level: 'info',
      message: 'x',
      request: 'id',
      site: 'site',
      app: 'like',
    });
    expect(Object.keys(JSON.parse(written({ level: 'info', message: 'x' })))).toEqual(['time', 'level', 'message']);
  });
});

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

test('addresses are masked during a look for persons and where an app has some, but where the configuration shows them', () => {
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const log = { info: write, warn: write, error: write };
  const [masks, shown] = [createMasks(false), createMasks(true)];
  maskedLog(log, masks).info('a@b.example');
  masks.startLook();
  maskedLog(log, masks).info('a@b.example');
  masks.endLook();
  maskedLog(log, masks).info('a@b.example');
  masks.begin();
  shown.begin();
  maskedLog(log, masks).error('a@b.example');
  maskedLog(log, shown).warn('a@b.example');
  expect(lines).toEqual(['a@b.example', MASK, 'a@b.example', MASK, 'a@b.example']);
});
