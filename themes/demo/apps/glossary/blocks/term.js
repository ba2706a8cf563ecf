import { mayAdd, mayChange } from '../lib/rights';
import { slug } from '../lib/slug';
import { topics } from '../lib/topics';

/** Runs before the form is shown and before it is saved: who may not add a term is sent to the list. */
export function on_display(context) {
  const { app, record } = context;
  if (!record && !mayAdd(app)) return app.get_block('list').url;
  context.may_change = record !== null && mayChange(app, record);
}

export function topics_options() {
  return topics;
}

export function words({ record }) {
  return `${record.term} ${record.meaning}`;
}

export function sort_key({ record }) {
  return String(record.term).toLowerCase();
}

export function added_by({ app }) {
  return app.acl.current_user();
}

/** A term's address can be guessed: /record/block. A second term of the same name gets /record/block-1. */
export function record_id({ record }) {
  return slug(record.term);
}

export function on_delete({ app }) {
  return app.get_block('list').url;
}
