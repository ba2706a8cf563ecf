import { describe, expect, test } from 'vitest';
import { isAppsError } from '../../common/errors';
import { createKeyring } from '../credentials/keyring';
import { alice, requester } from '../testing/fakes';
import { createCsrf } from './csrf';

const DAY = 24 * 60 * 60_000;
const START = 1_800_000_000_000;

const csrf = ({ keys = ['first', 'second'], at = START }: { keys?: string[]; at?: number } = {}) =>
  createCsrf({ keyring: createKeyring(keys), maxAge: DAY, now: () => at });

const refusal = (work: () => void): string => {
  try {
    work();
  } catch (error) {
    if (isAppsError(error, 'CsrfError')) return error.message;
    throw error;
  }
  return 'accepted';
};

describe('CSRF tokens', () => {
  test.each([
    ['the same requester', alice],
    ['the same user in a later request', { ...alice, groups: ['Others'] }],
  ])('hold for %s', (_name, who) => {
    expect(refusal(() => csrf().verify(csrf().issue(alice), who))).toBe('accepted');
  });

  test('hold for anonymous', () => {
    expect(refusal(() => csrf().verify(csrf().issue(requester()), requester()))).toBe('accepted');
  });

  test.each([
    ['theirs', 'ann', 'ann', true],
    ["another visitor's", 'ann', 'bob', false],
    ['one of a page without the cookie', null, 'ann', false],
  ])('are valid for all who are anonymous, and tell a visitor from others: %s', (_name, issuedTo, visitor, own) => {
    const token = csrf({ keys: ['second'] }).issue(requester(), issuedTo);
    expect(refusal(() => csrf().verify(token, requester()))).toBe('accepted');
    expect(csrf().isOf(token, visitor)).toBe(own);
  });

  test.each([
    ['another identity', { ...alice, identity: 'user:a2' }],
    ['another kind of credential', { ...alice, credential: 'basic' as const }],
    ['anonymous', requester()],
  ])('are refused for %s', (_name, who) => {
    expect(refusal(() => csrf().verify(csrf().issue(alice), who))).toMatch(/not valid for this requester/);
  });

  test.each([
    ['missing', undefined, /missing/],
    ['empty', '', /missing/],
    ['a list', ['x'], /not valid/],
    ['garbage', 'garbage', /not valid/],
    [
      'without its mac',
      csrf()
        .issue(alice)
        .replace(/\.[^.]*$/, '.'),
      /not valid/,
    ],
    [
      'with another time',
      csrf()
        .issue(alice)
        .replace(/^[^.]*/, (START + 1).toString(36)),
      /not valid/,
    ],
  ])('are refused when %s', (_name, token, message) => {
    expect(refusal(() => csrf().verify(token, alice))).toMatch(message);
  });

  test.each([
    ['at the age limit', START + DAY, 'accepted'],
    ['after it', START + DAY + 1, /too old/],
    ['with a clock a little behind', START - 30_000, 'accepted'],
    ['from the future', START - 120_000, /too old/],
  ])('%s', (_name, at, outcome) => {
    expect(refusal(() => csrf({ at }).verify(csrf().issue(alice), alice))).toMatch(outcome);
  });

  test.each([
    ['a key that has become the second', ['new', 'first'], 'accepted'],
    ['a key that is gone', ['new'], /not valid/],
  ])('are checked under every key: %s', (_name, keys, outcome) => {
    expect(refusal(() => csrf({ keys }).verify(csrf().issue(alice), alice))).toMatch(outcome);
  });

  test('differ from response to response', () => {
    expect(csrf().issue(alice)).not.toBe(csrf().issue(alice));
  });
});

describe('the keyring', () => {
  test.each([[undefined], [[]], [['']], ['']])('needs a key: %j', (keys) => {
    expect(() => createKeyring(keys)).toThrow(/app\.keys/);
  });

  test('tells lists apart that would be the same text when joined', () => {
    const keyring = createKeyring('key');
    expect(keyring.sign(['a', 'bc'])).not.toBe(keyring.sign(['ab', 'c']));
    expect(keyring.verify(['a', 'bc'], keyring.sign(['ab', 'c']))).toBe(false);
  });
});
