import { expect, test } from 'vitest';
import { createKeyring } from './keyring';

test('what was signed under an earlier key is verified and found', () => {
  const [before, after] = [createKeyring(['old']), createKeyring(['new', 'old'])];
  const mac = before.sign(['a', 1]);
  expect(after.verify(['a', 1], mac)).toBe(true);
  expect(after.sign(['a', 1])).not.toBe(mac);
  expect(after.all(['a', 1])).toEqual([after.sign(['a', 1]), mac]);
  expect(createKeyring(['new']).all(['a', 1])).not.toContain(mac);
});

test('parts are told from each other', () => {
  const { sign, verify } = createKeyring('key');
  expect(sign(['ab', 'c'])).not.toBe(sign(['a', 'bc']));
  expect(verify(['a', 'bc'], sign(['ab', 'c']))).toBe(false);
  expect(verify(['a'], '')).toBe(false);
});

test('nothing is signed without a key', () => {
  for (const keys of [undefined, [], [''], '']) expect(() => createKeyring(keys)).toThrow('server.app.keys');
});
