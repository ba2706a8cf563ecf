import { randomBytes } from 'node:crypto';
import { escapeHtml } from '../elements';
import type { Visit } from '../run/types';

const mark = (name: string) => `${name}-${randomBytes(18).toString('hex')}`;

/** Stands for what each visitor gets of their own in a kept rendering: the CSRF token … */
const TOKEN = mark('csrf');
/** … the mark of when a block's form was shown, with the ids of app and block in hexadecimal … */
const SHOWN = mark('shown');
/** … the moment at which live blocks were right … */
const SINCE = mark('since');
/** … and the task for a proof of work, with the id of the app. */
const CHALLENGE = mark('challenge');

const marks = new RegExp(`(${TOKEN})|(${SINCE})|${SHOWN}-([0-9a-f]*)-([0-9a-f]*);|${CHALLENGE}-([0-9a-f]*);`, 'g');

const hex = (text: string) => Buffer.from(text).toString('hex');
const text = (given = '') => Buffer.from(given, 'hex').toString();

/** What a rendering that is kept gets in place of what belongs to one visitor. */
export const placeholders: Pick<Visit, 'csrfToken'> & Required<Pick<Visit, 'forms' | 'liveSince'>> = {
  liveSince: SINCE,
  csrfToken: () => TOKEN,
  forms: {
    shown: (app, block) => `${SHOWN}-${hex(app)}-${hex(block)};`,
    age: () => null,
    challenge: (app) => `${CHALLENGE}-${hex(app)};`,
  },
};

type OwnPart = (visit: Visit) => string;

/** A text with placeholders, split at them. */
export type Parts = readonly (string | OwnPart)[];

export function partsOf(whole: string): Parts {
  const parts: (string | OwnPart)[] = [];
  let end = 0;
  for (const { 0: found, 1: token, 2: since, 3: app, 4: block, 5: asked, index } of whole.matchAll(marks)) {
    parts.push(whole.slice(end, index));
    if (token) parts.push((visit) => visit.csrfToken());
    // A kept rendering is right when the request begins that gets it.
    else if (since) parts.push(({ liveSince, begin }) => liveSince ?? begin?.since() ?? '');
    else if (app !== undefined) parts.push(({ forms }) => forms?.shown(text(app), text(block)) ?? '');
    else parts.push(({ forms }) => escapeHtml(forms?.challenge(text(asked)) ?? ''));
    end = index + found.length;
  }
  parts.push(whole.slice(end));
  return parts;
}

/** The text for a visitor. */
export const filledIn = (parts: Parts, visit: Visit): string =>
  parts.length === 1
    ? (parts[0] as string)
    : parts.map((part) => (typeof part === 'string' ? part : part(visit))).join('');
