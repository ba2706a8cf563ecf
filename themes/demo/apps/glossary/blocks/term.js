/** @import { ComputedElement, OnDelete, OnDisplay, Options, RecordId } from 'strapi-plugin-apps/context' */
import { mayAdd, mayChange } from '../lib/rights';
import { slug } from '../lib/slug';
import { topicsIn } from '../lib/topics';

/**
 * Runs before the form is shown and before it is saved: who may not add a term is sent to the list.
 * @type {OnDisplay}
 */
export function on_display(context) {
  const { app, record } = context;
  if (!record && !mayAdd(app)) return app.get_block('list')?.url;
  context.may_change = record !== null && mayChange(app, record);
}

/** @type {Options} */
export function topics_options({ portal }) {
  return topicsIn(portal.locale);
}

/** @type {ComputedElement} */
export function words({ record }) {
  return `${record.term} ${record.meaning}`;
}

/** @type {ComputedElement} */
export function sort_key({ record }) {
  return String(record.term).toLowerCase();
}

/** @type {ComputedElement} */
export function added_by({ app }) {
  return app.acl.current_user();
}

/**
 * A term's address can be guessed: /record/block. A second term of the same name gets /record/block-1.
 * @type {RecordId}
 */
export function record_id({ record }) {
  return slug(record.term);
}

/** @type {OnDelete} */
export function on_delete({ app }) {
  return app.get_block('list')?.url;
}
