/** @import { Element, OnDelete, OnSave } from 'strapi-plugin-apps/context' */

/**
 * The time of the evening, so that the receipt has it for the calendar.
 * @type {Element}
 */
export const when = ({ app }) => app.options.when;

/**
 * Visitors may not read registrations.
 * @type {OnSave}
 */
export const on_save = ({ block }) => block.url;

/** @type {OnDelete} */
export const on_delete = ({ block }) => block.url;
