import { message } from '../locales';
import { textInput } from './inputs/text-input';

/** An absolute web address. Only http and https: a stored `javascript:` address would run in a reader's page. */
export const url = textInput({
  type: 'url',
  format: 'uri',
  trim: true,
  check: (text) => (isWebAddress(text) ? null : message('url')),
});

function isWebAddress(text: string): boolean {
  if (!/^https?:\/\/[^\s<>"\\]+$/i.test(text)) return false;
  try {
    return new URL(text).hostname !== '';
  } catch {
    return false;
  }
}
