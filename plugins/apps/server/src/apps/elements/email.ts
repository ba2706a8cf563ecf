import { asciiAddress } from '../../common/values/mail-address';
import { message } from '../locales';
import { textInput } from './inputs/text-input';

/** The HTML standard's own grammar of an e-mail address; every part is bounded or unambiguous, so it cannot backtrack. */
const ADDRESS =
  /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/i;

/**
 * An e-mail address, stored as it was entered: browsers send a domain with letters beyond ASCII as these letters or as
 * `xn--…`, and both are taken.
 */
export const email = textInput({
  type: 'email',
  format: 'idn-email',
  trim: true,
  check: (text) => (isTaken(text) ? null : message('email')),
});

function isTaken(text: string): boolean {
  const address = text.length <= 254 ? asciiAddress(text) : text;
  return address.length <= 254 && ADDRESS.test(address);
}
