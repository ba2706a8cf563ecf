import { choices, ratingOf } from '../lib/stars';

/** @typedef {import('strapi-plugin-apps/context').Context} Context */

/** @param {Context} context */
export function on_display(context) {
  context.problem = '';
  context.is_rated = context.request.has('rated');
}

/** Options of the field `stars`. */
export function stars_options() {
  return choices;
}

/** What stands above the form, and what a JSON client gets. @param {Context} context */
export function rating({ app, content }) {
  return ratingOf(app, content.path);
}

/**
 * The button. Each page has one record, made by its first rating; `inc` loses nothing that others add at the same time.
 * @param {Context} context
 */
export function rate(context) {
  const { app, block, content, request } = context;
  const chosen = choices.find(({ value }) => String(value) === String(request.get('stars')));
  if (!chosen) {
    context.problem = 'Please choose a number of stars first.';
    request.response.status = 422;
    return;
  }
  const record = app.get_record(content.path) ?? app.create_record(content.path);
  const votes = record.inc('votes');
  record.average = record.inc('sum', chosen.value) / votes;
  return `${block?.url}?rated=yes`;
}
