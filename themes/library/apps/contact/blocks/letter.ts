import type { RecordContext } from 'strapi-plugin-apps/context';

export function on_delete({ app }: RecordContext): string {
  return `${app.url}/blocks/inbox`;
}
