import { textInput } from './text-input';

/** One line of text, stored as it was entered. */
export const text = textInput({ type: 'text' });
