import type { Core } from '@strapi/strapi';
import type { Items } from '../../../shared/json';
import type { Requester } from '../requester/types';
import type { ContentItem, Site, Sites } from '../sites/types';

/** Events after which the published version is the item; after the others it is the draft, where there is one. */
const published = new Set(['publish', 'delete']);

/** Reads the item of an event: also a draft, which no address leads to, for the acting user has it in their hands. */
export function createItems(strapi: Core.Strapi, sites: Sites) {
  async function fieldsOf(
    uid: string,
    documentId: string,
    status: string,
    requester: Requester,
  ): Promise<Items | null> {
    const documents = strapi.documents(uid as never) as unknown as { findOne(params: object): Promise<object | null> };
    const found = await documents.findOne({ documentId, status, populate: '*' });
    if (!found) return null;
    // The admin strategy cannot be asked about relations: without an `auth` private fields are still taken out.
    const auth = requester.kind === 'administrator' ? undefined : requester.auth;
    const schema = strapi.getModel(uid as never) as never;
    const shown = await strapi.contentAPI.sanitize.output(found, schema, { auth: auth as never });
    return JSON.parse(JSON.stringify(shown)) as Items;
  }

  return {
    /** The item with its address, as far as it has one; null when it is no longer there. */
    async read(
      site: Site,
      uid: string,
      documentId: string,
      requester: Requester,
      event: string,
    ): Promise<ContentItem | null> {
      const [first, second] = published.has(event) ? ['published', 'draft'] : ['draft', 'published'];
      const fields =
        (await fieldsOf(uid, documentId, first as string, requester)) ??
        (await fieldsOf(uid, documentId, second as string, requester));
      if (!fields) return null;
      const shown = await sites.content.find(site, uid, documentId, requester);
      const id = String(fields.id ?? documentId);
      const title = String(fields.title ?? fields.name ?? documentId);
      const { url, path } = shown ?? { url: `${site.url}/`, path: '/' };
      return { type: uid, id, documentId, title, url, path, fields };
    },
  };
}
