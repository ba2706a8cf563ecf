import { asciiAddress } from '../../common/text';
import { MAX_MARKDOWN } from '../../layouts';
import { message } from '../locales';
import type { ElementDefinition } from '../types';
import {
  attributes,
  controlId,
  escapeHtml,
  field,
  isDemanded,
  plainText,
  readableText,
  stateAttributes,
} from './inputs/html';
import { type Inputmode, inputmode, person, type Rows, rows } from './inputs/settings';
import {
  checkLengths,
  inLines,
  lastEntry,
  shownText,
  type TextSettings,
  textAttributes,
  textInput,
  textProblem,
  textSchema,
  textSettings,
} from './inputs/text-input';
import type { ElementType } from './types';

/** One line of text, stored unchanged. */
export const text = textInput({ type: 'text' });

/** Several lines of text; all line ends are stored as `\n`. */
export const textarea: ElementType<TextSettings & Rows> = {
  role: 'input',
  settings: { ...textSettings, ...rows },
  check: checkLengths,
  schema: (definition) => textSchema(definition),
  compares: (submitted) => [inLines(lastEntry(submitted))],
  read(submitted, definition, { work }) {
    const value = lastEntry(submitted).replace(/\r\n?/g, '\n');
    const error = textProblem(value, definition, work);
    return error === null ? { value } : { error };
  },
  show(view) {
    if (view.mode === 'text') return readableText(view.value);
    const { name, settings } = view.definition;
    const { pattern: _notInHtml, ...limits } = textAttributes(settings);
    const own = attributes({ id: controlId(view), name, required: isDemanded(view), rows: settings.rows }, limits);
    const attrs = `${own}${stateAttributes(view)}`;
    // A browser drops a line break right after the tag, so that the text would lose its own.
    return field(view, `<textarea${attrs}>\n${escapeHtml(shownText(view))}</textarea>`);
  },
};

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
  settings: person,
  traits: { isAddress: true },
  check: (text) => (isTaken(text) ? null : message('email')),
});

function isTaken(text: string): boolean {
  const address = text.length <= 254 ? asciiAddress(text) : text;
  return address.length <= 254 && ADDRESS.test(address);
}

/** Digits with the usual marks between them, and an extension. Adjacent parts share no character. */
const NUMBER = /^\+?[\d ()./-]+(?:(?:ext\.?|x|#) ?\d{1,10})?$/i;

/** Digits of a number without its extension; E.164 allows 15, national prefixes in brackets add some. */
const DIGITS = { least: 3, most: 20 };

/** A telephone number, stored as it was written. */
export const tel = textInput({
  type: 'tel',
  trim: true,
  settings: inputmode,
  check: (text) => (isNumber(text) ? null : message('tel')),
});

function isNumber(text: string): boolean {
  const digits = text.split(/ext|x|#/i, 1)[0]?.replace(/\D/g, '').length ?? 0;
  return text.length <= 50 && NUMBER.test(text) && digits >= DIGITS.least && digits <= DIGITS.most;
}

/** An absolute web address. Only http and https: a stored `javascript:` address would run in a reader's page. */
export const url = textInput({
  type: 'url',
  format: 'uri',
  trim: true,
  traits: { isLink: true },
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

/** An invisible value of the form; a visitor can change it like any other field. */
export const hidden: ElementType<TextSettings & Inputmode> = {
  ...textInput({ type: 'hidden' }),
  compares: (submitted) => [inLines(lastEntry(submitted))],
  show(view) {
    if (view.mode === 'text') return readableText(view.value);
    const { name } = view.definition;
    const input = `<input${attributes({ id: controlId(view), name, type: 'hidden', value: shownText(view) })}>`;
    // A visitor cannot correct an invisible field, but must learn why the form was refused.
    return view.error ? `${input}<span class="apps-error" role="alert">${escapeHtml(view.error)}</span>` : input;
  },
};

const withMost = (definition: ElementDefinition<TextSettings & Rows>) => ({
  ...definition,
  settings: {
    ...definition.settings,
    maxlength: Math.min(MAX_MARKDOWN, definition.settings.maxlength ?? MAX_MARKDOWN),
  },
});

/** A text with Markdown: entered in a text field, shown as HTML without anything active. */
export const markdown: ElementType<TextSettings & Rows> = {
  ...textarea,
  read: (submitted, definition, context) => textarea.read?.(submitted, withMost(definition), context) ?? { value: '' },
  show: (view, context) =>
    view.mode === 'text' ? context.markdown(plainText(view.value)) : (textarea.show?.(view, context) ?? ''),
};
