/** @import { OnSave, Validate } from 'strapi-plugin-apps/context' */

/**
 * The youngest age of an own card; children get theirs with that of an adult.
 * @type {Validate}
 */
export function validate({ invalid, request }) {
  const { born } = request.form;
  const twelve = new Date();
  twelve.setFullYear(twelve.getFullYear() - 12);
  if (born && String(born) > twelve.toISOString().slice(0, 10))
    invalid('born', 'Children under twelve get a card with that of an adult.');
}

/**
 * Applicants may not read applications, but by their own link: they are led to a page of thanks.
 * @type {OnSave}
 */
export const on_save = ({ app }) => app.get_block('thanks')?.url;
