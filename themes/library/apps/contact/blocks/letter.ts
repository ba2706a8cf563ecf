import type { Context } from 'strapi-plugin-apps/context';

export function on_delete({ app }: Context): string {
  return `${app.url}/blocks/inbox`;
}
