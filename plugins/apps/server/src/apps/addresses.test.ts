import { describe, expect, test } from 'vitest';
import { asciiAddress } from '../common/text';
import { checkedMail, isAllowed } from './mail';

describe('domains with letters beyond ASCII', () => {
  test.each([
    ['anna@müller.de', 'anna@xn--mller-kva.de'],
    ['anna@MÜLLER.de', 'anna@xn--mller-kva.de'],
    ['*@müller.de', '*@xn--mller-kva.de'],
    ['Anna@Example.org', 'Anna@Example.org'],
    ['änna@example.org', 'änna@example.org'],
    ['a@1.2', 'a@1.2'],
    ['a@ü b', 'a@ü b'],
    ...['a@.ü', 'a@ü.', 'a@ü..b', 'a@-ü', 'a@ü-.b', 'a@b.-ü', 'a@ü/x', 'a@ü:1', 'a@ü?x', 'a@ü\\x'].map((text) => [
      text,
      text,
    ]),
    ['', ''],
  ])('%s is sent to %s', (address, expected) => {
    expect(asciiAddress(address)).toBe(expected);
  });

  test.each([
    ['anna@müller.de', '*@xn--mller-kva.de', true],
    ['anna@xn--mller-kva.de', '*@müller.de', true],
    ['anna@xn--mller-kva.de', 'Anna@Müller.de', true],
    ['anna@muller.de', '*@müller.de', false],
    ['anna@müller.de.evil.org', '*@müller.de', false],
  ])('%s is allowed by %s: %s', (address, entry, expected) => {
    expect(isAllowed(address, [entry])).toBe(expected);
  });

  test('a mail names them in ASCII', () => {
    const mail = checkedMail({ to: ['anna@müller.de'], subject: 's', text: 't', reply_to: 'bo@пример.рф' });
    expect(mail).toMatchObject({ to: ['anna@xn--mller-kva.de'], replyTo: 'bo@xn--e1afmkfd.xn--p1ai' });
    expect(checkedMail({ to: ['a@b.org'], subject: 's', text: 't' }).replyTo).toBeNull();
  });
});
