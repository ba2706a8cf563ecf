/** @typedef {import('strapi-plugin-apps/context').Context} Context */

/** @param {Context} context */
export function on_display(context) {
  context.is_sent = context.request.has('sent');
}

export function sent_at() {
  return new Date().toISOString();
}

/** Visitors may not read messages. From now on the block `message` shows this one. @param {Context} context */
export function on_save({ block, record }) {
  record?.set_block('message');
  return `${block?.url}?sent=yes`;
}
