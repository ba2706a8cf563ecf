import { mayAdd, mayChange } from '../lib/rights';
import { slug } from '../lib/slug';

/** @typedef {import('strapi-plugin-apps/context').Context} Context */

/** Runs before the form is shown and before it is saved: the list, for those who may not add a term. @param {Context} context */
export function on_display(context) {
  const { app, record } = context;
  context.may_change = record !== null && mayChange(app, record);
  if (record === null && !mayAdd(app)) return app.get_block('glossary')?.url;
}

/** @param {Context} context */
export function words({ record }) {
  return `${record?.term} ${record?.meaning}`;
}

/** @param {Context} context */
export function sort_key({ record }) {
  return String(record?.term).toLowerCase();
}

/** @param {Context} context */
export function added_by({ app }) {
  return app.acl.current_user();
}

/** The address of "Café" is /record/cafe; a second term of the same name gets /record/cafe-1. @param {Context} context */
export function record_id({ record }) {
  return slug(record?.term);
}

/** @param {Context} context */
export function on_delete({ app }) {
  return app.get_block('glossary')?.url;
}
