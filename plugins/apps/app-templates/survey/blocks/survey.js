import { frequencies } from '../lib/questions';

/** Options of the field `frequency`. */
export function frequency_options() {
  return frequencies;
}

export function answered_at() {
  return new Date().toISOString();
}

/** Visitors may not read answers, so they see a page of their own. @param {import('strapi-plugin-apps/context').Context} context */
export function on_save({ app }) {
  return app.get_block('thanks')?.url;
}
