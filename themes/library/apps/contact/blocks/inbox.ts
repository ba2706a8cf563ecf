import type { Context } from 'strapi-plugin-apps/context';

/** Every message as its own block shows it, with its own buttons. */
export function letters({ app }: Context): string {
  const messages = app.search('', { sort_index: 'sent_at', reverse: true, limit: 50 });
  return messages.map((message) => message.display()).join('') || '<p>No messages.</p>';
}
