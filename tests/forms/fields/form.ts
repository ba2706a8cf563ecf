import type { Stage } from '../../support/stage';
import { html } from '../../support/stage';

export type Form = Record<string, string | string[]>;

export const block = 'forms/blocks/all';

/** Fields that make the form valid. */
export const needed: Form = { text: 'some text', _save: '' };

export interface Refusal {
  error: { status: number; name: string; message: string; details: { errors: { path: string[]; message: string }[] } };
}

/** Opening tags of an HTML text that name an element. */
export const tags = (text: string, name: string) =>
  [...text.matchAll(/<(input|textarea|select|button)\b[^>]*>/g)]
    .map(([tag]) => tag)
    .filter((tag) => tag.includes(`name="${name}"`));

/** Requests to the form of all kinds of fields. */
export function formOf(stage: Stage) {
  const post = (form: Form, accept = html) => stage.send<Refusal>({ send: `POST ${block}`, accept, form });

  return { post };
}
