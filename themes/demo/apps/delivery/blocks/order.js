/** @import { OnDelete, OnSave } from 'strapi-plugin-apps/context' */
import { textsOf } from '../lib/texts';
import { townOf } from '../lib/towns';

/**
 * Looks the town up, and refuses a postal code that does not exist. An order is not lost because the service is down.
 * @type {OnSave}
 */
export function on_save(context) {
  const { block, flash, invalid, portal, record } = context;
  const texts = textsOf(portal.locale);
  const town = townOf(context, String(record.code));
  if (town === null) return invalid('code', texts.unknown);
  record.set('town', town);
  flash(town === '' ? texts.later : texts.coming(town));
  // Who asks for books may not read the order.
  return block.url;
}

/** @type {OnDelete} */
export function on_delete({ block }) {
  return block.url;
}
