import createClient from 'openapi-fetch';
import type { components, paths } from './guestbook';

/** An entry of the guest book, as its form stores it. */
export type Entry = components['schemas']['guestbook.entry.Items'];

/** Adds an entry to the guest book and reads it again. @param url `{base_url}/<site_id>/@@apps` */
export async function sign(url: string, entry: Entry) {
  const client = createClient<paths>({ baseUrl: url, headers: { Accept: 'application/json' } });
  const settings = await client.GET('/guestbook');
  client.use({
    onRequest: ({ request }) =>
      request.headers.set('X-CSRF-TOKEN', settings.response.headers.get('x-csrf-token') ?? ''),
  });
  const created = await client.POST('/guestbook', { body: entry });
  if (created.error) throw new Error(`${created.error.error.name}: ${created.error.error.message}`);
  const record = await client.GET('/guestbook/record/{record_id}', {
    params: { path: { record_id: created.data.id } },
  });
  return record.data as components['schemas']['guestbook.entry.Record'] | undefined;
}
