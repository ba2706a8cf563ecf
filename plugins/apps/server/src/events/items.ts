import type { Core } from '@strapi/strapi';
import type { Items } from '../../../shared/json';
import type { Requester } from '../requester/types';
import type { ContentItem, Site, Sites } from '../sites/types';
import type { Happening } from './happenings';

/** Reads the item of an event: also a draft, which no address leads to, for the acting user has it in their hands. */
export function createItems(strapi: Core.Strapi, sites: Sites) {
  async function fieldsOf(
    { uid, documentId, locale }: Happening,
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
     * The version that an event is about, else the document's other one in the same locale (a deleted draft was never
     * published), with the address that it has when it is published; null when it is no longer there.
     */
    async read(site: Site, happening: Happening, requester: Requester): Promise<ContentItem | null> {
      const versions = happening.published ? (['published', 'draft'] as const) : (['draft', 'published'] as const);
      for (const version of versions) {
        const fields = await fieldsOf(happening, version, requester);
        if (fields) return sites.content.describe(site, happening.uid, fields, { draft: version === 'draft' });
      }
      return null;
    },
  };
}
