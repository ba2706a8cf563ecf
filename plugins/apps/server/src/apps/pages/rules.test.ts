import { describe, expect, test } from 'vitest';
import { patternWork } from '../patterns';
import { blockReference } from './embed';
import { readRules } from './rules';

const read = (text: string) => readRules({ path: 'rules.yaml', text });

const rule = (keys: string) => `- { append: main, include: /@@apps/a/blocks/b${keys === '' ? '' : `, ${keys}`} }`;

describe('readRules', () => {
  test('reads a rule with its defaults', () => {
    expect(read(rule(''))).toEqual({
      errors: [],
      rules: [
        {
          action: 'append',
          target: 'main',
          include: { app: 'a', block: 'b', query: '' },
          select: 'form',
          matchesPath: null,
          ifContent: null,
          position: { file: 'rules.yaml', line: 1, column: 3 },
        },
      ],
    });
  });

  test.each([
    ['/articles/*', ['/articles/a', '/articles/a/', '/articles/'], ['/articles', '/articles/a/b', '/x/articles/a']],
    ['/articles/**', ['/articles/a', '/articles/a/b'], ['/articles', '/articlesx']],
    ['articles/?', ['/articles/a'], ['/articles/ab', '/articles/']],
    ['/', ['/'], ['/a']],
    ['/a.b', ['/a.b'], ['/axb']],
    ['/(a|b)+$', ['/(a|b)+$'], ['/a', '/ab']],
  ])('matches %s', (glob, matching, others) => {
    const matches = read(rule(`if_path: '${glob}'`)).rules[0]?.matchesPath;
    expect(matching.map((path) => matches?.(path))).toEqual(matching.map(() => true));
    expect(others.map((path) => matches?.(path))).toEqual(others.map(() => false));
  });

  test.each([
    ['- { include: /@@apps/a/blocks/b }', 'exactly one of before'],
    ['- { append: a, before: b, include: /@@apps/a/blocks/b }', 'exactly one of before'],
    ['- { append: a }', 'needs an "include"'],
    ['- { append: a, include: //evil/@@apps/a/blocks/b }', "block's address"],
    ['- { append: a, include: /@@apps/../blocks/b }', "block's address"],
    ['- { append: a, include: /@@apps/a/blocks/b/element }', "block's address"],
    [rule("if_path: '*********a*b*c*d*e*f*g*h*i'"), '8 wildcards'],
    [rule("if_content: '(('"), 'not a CSS selector'],
    [rule('slect: form'), 'did you mean "select"'],
    ['append: main', 'must be a list'],
    ['- [', 'not valid YAML'],
    ['- text', 'must be a mapping'],
  ])('refuses %s', (text, message) => {
    const { rules, errors } = read(text);
    expect(rules).toEqual([]);
    expect(errors.map((error) => error.message)).toEqual([expect.stringContaining(message)]);
  });

  test('matches a long path in few steps', () => {
    const matches = read(rule("if_path: '/*a*a*a*a*a*a*b'")).rules[0]?.matchesPath;
    const work = patternWork();
    expect(matches?.(`/${'a'.repeat(3_900)}`, work)).toBe(false);
    expect(matches?.(`/${'a'.repeat(3_900)}b`, work)).toBe(true);
    expect(work.left).toBeGreaterThan(1_500_000);
  });

  test('reads up to 200 rules', () => {
    const { rules, errors } = read(Array(202).fill(rule('')).join('\n'));
    expect(rules).toHaveLength(200);
    expect(errors).toMatchObject([{ name: 'DefinitionError', position: { file: 'rules.yaml', line: 201 } }]);
  });

  test('reads selectors of up to 20,000 characters together', () => {
    const { rules, errors } = read(
      Array(25)
        .fill(rule(`if_content: ${'a'.repeat(990)}`))
        .join('\n'),
    );
    expect(rules).toHaveLength(20);
    expect(errors).toHaveLength(5);
    expect(errors[0]).toMatchObject({ position: { line: 21 }, message: expect.stringContaining('at most 20000') });
  });

  test('refuses a long path of slashes in linear time', () => {
    expect(read(rule(`if_path: '${'/'.repeat(9_000)}x'`)).errors[0]?.message).toContain('at most 400 characters');
  });

  test('keeps the valid rules', () => {
    const { rules, errors } = read(`- { append: main }\n${rule('')}\n- 3`);
    expect(rules).toHaveLength(1);
    expect(errors.map(({ position }) => position?.line)).toEqual([1, 3]);
  });

  test('an empty file has no rules', () => expect(read('')).toEqual({ rules: [], errors: [] }));
});

describe('blockReference', () => {
  test.each([
    ['rating/blocks/rate', { app: 'rating', block: 'rate', query: '' }],
    ['/@@apps/rating/blocks/rate?a=1&b', { app: 'rating', block: 'rate', query: 'a=1&b' }],
    [' @@apps/rating/blocks/rate ', { app: 'rating', block: 'rate', query: '' }],
    ['rating/rate', null],
    ['/site/@@apps/rating/blocks/rate', null],
    ['__proto__/blocks/rate', null],
    ['<script>/blocks/rate', null],
    ['a/blocks/b#c', null],
    ['', null],
  ])('parses %s', (text, expected) => expect(blockReference(text)).toEqual(expected));
});
