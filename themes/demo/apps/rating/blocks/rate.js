/** @import { Element } from 'strapi-plugin-apps/context' */

/**
 * The button: one record for each content item, made by its first like. Its id is the item's path.
 * @type {Element}
 */
export function like(context) {
  const { app, content } = context;
  const record = app.get_record(content.path) ?? app.create_record(content.path);
  const total = record.inc('total');
  app.log(`${content.path} is liked: ${total}`);
  return likes(context);
}

/**
 * What stands beside the button, and what a JSON client gets.
 * @type {Element}
 */
export function likes({ app, content }) {
  const total = app.get_record(content.path)?.get('total', 0) ?? 0;
  return { total, text: total === 1 ? '1 like' : `${total} likes` };
}
