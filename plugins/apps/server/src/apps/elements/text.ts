import { textInput } from './inputs/text-input';

/** One line of text, stored unchanged. */
export const text = textInput({ type: 'text' });
