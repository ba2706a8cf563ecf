/** @import { Context } from 'strapi-plugin-apps/context' */

/**
 * Tells the moderators which comments wait. The clock calls it (digest.yaml), with the rights of `schedule_as` in settings.yaml.
 * @param {Context} context
 */
export function send({ app, mail }) {
  const waiting = app.search("'waiting' in state", { sort_index: 'created_at', limit: 50 });
  if (waiting.length === 0) return;
  // A mail holds 100,000 characters: of a long comment it has the begin.
  const list = waiting.map(({ author, page, text }) => `${author} on ${page}: ${text}`.slice(0, 1_000)).join('\n');
  const subject = waiting.length === 1 ? 'A comment waits' : `${waiting.length} comments wait`;
  mail.send({ to: String(app.options.moderators), subject, text: `${list}\n\n${app.get_block('moderate')?.url}` });
}
