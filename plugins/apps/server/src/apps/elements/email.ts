import { message } from '../locales';
import { textInput } from './inputs/text-input';

/** The HTML standard's own grammar of an e-mail address; every part is bounded or unambiguous, so it cannot backtrack. */
const ADDRESS =
  /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/i;

/** An e-mail address. */
export const email = textInput({
  type: 'email',
  format: 'email',
  trim: true,
  check: (text) => (text.length <= 254 && ADDRESS.test(text) ? null : message('email')),
});
