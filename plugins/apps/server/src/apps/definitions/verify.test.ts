import { describe, expect, test } from 'vitest';
import { errorText } from '../../common/errors';
import { readDefinition } from './definition';
import { failure, file } from './testing/definitions';

const element = (type: string, keys: string) => file(`elements: { hook: { type: ${type}, ${keys} } }`);

describe('verify', () => {
  test.each([
    ['ACTION', 'verify: { secret: partner }', { secret: 'partner', hex: null }],
    ['BASIC', 'verify: { secret: partner }', { secret: 'partner', hex: null }],
    [
      'ACTION',
      "verify: { secret: code, header: X-Hub-Signature-256, prefix: 'sha256=' }",
      { secret: 'code', hex: { header: 'x-hub-signature-256', prefix: 'sha256=' } },
    ],
    ['ACTION', 'verify: { secret: code, header: x-sign }', { secret: 'code', hex: { header: 'x-sign', prefix: '' } }],
  ])('of %s: %s', (type, keys, expected) => {
    expect(readDefinition(element(type, keys)).elements.get('hook')?.verify).toEqual(expected);
  });

  test.each<[string, string, RegExp]>([
    ['TEXT', 'verify: { secret: a }', /"verify" is not known for the type TEXT/],
    ['ACTION', 'verify:', /hook.verify: "verify" needs a "secret"/],
    ['ACTION', 'verify: {}', /"verify" needs a "secret"/],
    ['ACTION', 'verify: { secret: }', /"verify" needs a "secret"/],
    ['ACTION', 'verify: partner', /This must be a mapping/],
    ['ACTION', 'verify: true', /This must be a mapping/],
    ['ACTION', 'verify: { secret: "" }', /must be the name of a secret/],
    ['ACTION', 'verify: { secret: a.b }', /must be the name of a secret/],
    ['ACTION', 'verify: { secret: a, prefix: x }', /"prefix" stands before the digits of a "header"/],
    ['ACTION', 'verify: { secret: a, header: "x y" }', /must be the name of a header/],
    ['ACTION', 'verify: { secret: a, header: x, prefix: "" }', /at most 50 visible characters/],
    ['ACTION', 'verify: { secret: a, headers: x }', /"headers" is not known, did you mean "header"/],
    ['ACTION', 'verify: { secret: a }, confirm: Sure', /called by webhooks alone and takes no "confirm"/],
    ['ACTION', 'verify: { secret: a }, validates: true', /takes no "validates"/],
    ['BASIC', 'verify: { secret: a }, mode: COMPUTED_ON_SAVE', /takes no "mode"/],
    ['BASIC', 'verify: { secret: a }, index_type: field', /takes no "index_type"/],
  ])('of %s is refused: %s', (type, keys, message) => {
    expect(errorText(failure(() => readDefinition(element(type, keys))))).toMatch(message);
  });

  test('of a built-in action is refused', () => {
    const given = file('elements: { _save: { verify: { secret: a } } }');
    expect(failure(() => readDefinition(given)).message).toMatch(
      /"_save" is a built-in action, which no webhook calls/,
    );
  });
});
