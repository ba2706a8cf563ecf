/** @typedef {import('strapi-plugin-apps/context').Context} Context */

/** The function of the element `entries`: the latest entries first. The layout escapes them. @param {Context} context */
export function entries({ app }) {
  const records = app.search('', { sort_index: 'written_at', reverse: true, limit: 50 });
  return records.map((record) => record.items());
}

/** Stored with each new entry, because the definition says `mode: COMPUTED_ON_CREATION`. */
export function written_at() {
  return new Date().toISOString();
}

/** After a save the visitor is sent back to the guestbook, which shows the message once. @param {Context} context */
export function on_save({ block, flash }) {
  flash('Thank you! Your entry is in the guestbook.');
  return block?.url;
}

/** @param {Context} context */
export function on_delete({ block }) {
  return block?.url;
}
