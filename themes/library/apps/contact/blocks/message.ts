import type { Context, RecordContext } from 'strapi-plugin-apps/context';

export function on_display(context: Context): void {
  context.is_sent = context.request.has('sent');
}

export function sent_at(): string {
  return new Date().toISOString();
}

/** Who writes a message may not read messages: the inbox shows it from now on. */
export function on_save({ app, record }: RecordContext): string {
  record.set_block('letter');
  return `${app.url}/blocks/message?sent=yes`;
}
