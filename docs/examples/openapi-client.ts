import createClient from 'openapi-fetch';
import type { components, paths } from './guestbook';

type Items = components['schemas']['guestbook.guestbook.Items'];

/** What a visitor writes into the guestbook that `strapi-plugin-apps init` makes. */
export type Entry = Required<Pick<Items, 'name' | 'message'>>;

/** Signs the guestbook by its form, and reads the new entry. @param url `{base_url}/<site_id>/@@apps` */
export async function sign(url: string, entry: Entry) {
  const client = createClient<paths>({ baseUrl: url, headers: { Accept: 'application/json' } });
  const settings = await client.GET('/guestbook');
  client.use({
    onRequest: ({ request }) =>
      request.headers.set('X-CSRF-TOKEN', settings.response.headers.get('x-csrf-token') ?? ''),
  });
  const created = await client.POST('/guestbook/blocks/guestbook', { body: { ...entry, _save: '' } });
  if (created.error) throw new Error(`${created.error.error.name}: ${created.error.error.message}`);
  if (!created.data || !('id' in created.data)) throw new Error('Nothing was saved');
  const record = await client.GET('/guestbook/record/{record_id}', {
    params: { path: { record_id: created.data.id } },
  });
  return record.data as components['schemas']['guestbook.guestbook.Record'] | undefined;
}
