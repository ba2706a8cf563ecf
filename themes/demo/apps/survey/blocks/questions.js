/** @import { Action, ComputedElement, Element, OnSave, Options, Validate } from 'strapi-plugin-apps/context' */
import { verdictOf } from '../lib/verdict';

/**
 * The articles that this visitor may read, asked from Strapi with the visitor's own permissions.
 * @type {Options}
 */
export function favourite_options({ api }) {
  const articles = api
    .documents('api::article.article')
    .findMany({ fields: ['title', 'slug'], sort: 'title', limit: 50 });
  return articles.map(({ slug, title }) => ({ value: slug, label: title }));
}

/**
 * Where the visitor comes from: …/blocks/questions?from=newsletter.
 * @type {Element}
 */
export function source({ request }) {
  return request.get('from', 'site');
}

/**
 * What the fields by themselves cannot say; nothing is saved while there is a message.
 * @type {Validate}
 */
export function validate({ invalid, request }) {
  const { email, newsletter, since } = request.form;
  const today = new Date().toISOString().slice(0, 10);
  if (newsletter && !email) invalid('email', 'Please enter an address to which we can send the newsletter.');
  if (since && String(since) > today) invalid('since', 'This day is still to come.');
}

/** @type {Action} */
export function start_over({ block }) {
  return block.url;
}

/** @type {ComputedElement} */
export function verdict({ record }) {
  return verdictOf(record.score);
}

export function answered_at() {
  return new Date().toISOString();
}

/**
 * Who answers may not read answers, so the record's own page is not for them. From now on `answer` shows it.
 * @type {OnSave}
 */
export function on_save({ app, record }) {
  record.set_block('answer');
  return app.get_block('thanks')?.url;
}
