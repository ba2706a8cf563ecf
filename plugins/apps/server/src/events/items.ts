import type { Core } from '@strapi/strapi';
import type { Items } from '../../../shared/json';
import type { Requester } from '../auth/types';
import type { ContentItem, Site, Sites } from '../sites/types';
import type { ContentEvent } from './host-events';

/** Reads the item of an event. It may be a draft, which has no address yet: the actor is editing it. */
export function createItems(strapi: Core.Strapi, sites: Sites) {
  async function fieldsOf(
    { uid, documentId, locale }: ContentEvent,
    status: 'draft' | 'published',
    requester: Requester,
  ): Promise<Items | null> {
    const documents = strapi.documents(uid as never) as unknown as { findOne(params: object): Promise<object | null> };
    const found = await documents.findOne({ documentId, status, populate: '*', ...(locale !== null && { locale }) });
    if (!found) return null;
    // The admin strategy cannot be asked about relations: without an `auth` private fields are still taken out.
    const auth = requester.kind === 'administrator' ? undefined : requester.auth;
    const schema = strapi.getModel(uid as never) as never;
    const shown = await strapi.contentAPI.sanitize.output(found, schema, { auth: auth as never });
    return JSON.parse(JSON.stringify(shown)) as Items;
  }

  return {
    /**
     * The version of the event, else the document's other one in the same locale (a deleted draft was never published), with
     * the address that it has when it is published; null if neither exists any more.
     */
    async read(site: Site, contentEvent: ContentEvent, requester: Requester): Promise<ContentItem | null> {
      const versions = contentEvent.published ? (['published', 'draft'] as const) : (['draft', 'published'] as const);
      for (const version of versions) {
        const fields = await fieldsOf(contentEvent, version, requester);
        if (fields) return sites.content.describe(site, contentEvent.uid, fields, { draft: version === 'draft' });
      }
      return null;
    },
  };
}
