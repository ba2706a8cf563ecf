import { describe, expect, test } from 'vitest';
import { errorText } from '../common/errors';
import { failure, file } from './definitions/testing/definitions';
import { readYaml } from './yaml';

describe('readYaml', () => {
  const laughs = (levels: number) =>
    ['a0: &a0 [x]', ...Array.from({ length: levels }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`)].join('\n');

  test('expands up to 100 aliases', () => {
    expect(readYaml(file(laughs(4))).value).toHaveProperty('a4');
    expect(failure(() => readYaml(file(laughs(6)))).message).toMatch(/more than 100 copies/);
  });

  test('refuses a file with a problem', () => {
    expect(errorText(failure(() => readYaml({ path: 'x.yaml', text: '', problem: 'too large' })))).toBe(
      'x.yaml: too large',
    );
  });
});
