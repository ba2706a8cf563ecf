import { describe, expect, test } from 'vitest';
import { type FormattedLogger, logAsJson, printable, printableLog } from './log';

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
