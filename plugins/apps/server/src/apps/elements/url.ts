import { textInput } from './text-input';

/** An absolute web address. Only http and https: a stored `javascript:` address would run in a reader's page. */
export const url = textInput({
  type: 'url',
  trim: true,
  check: (text) => (isWebAddress(text) ? null : 'Please enter a web address that begins with http:// or https://.'),
});

function isWebAddress(text: string): boolean {
  if (!/^https?:\/\/[^\s<>"\\]+$/i.test(text)) return false;
  try {
    return new URL(text).hostname !== '';
  } catch {
    return false;
  }
}
