import type { Core } from '@strapi/strapi';
import type { ContentFixtures, Items } from '../index';
import type { TestTools } from './plugin';

/** The host's content: fixtures of a test, and the return to the content that the host's start has made. */
export interface Content extends ContentFixtures {
  /** Remembers what there is. Before the first test. */
  remember(): Promise<void>;
  /** Deletes all entries that were not there. */
  reset(): Promise<void>;
}

type Uid = 'plugin::users-permissions.role';

export function createContent(strapi: Core.Strapi, tools: TestTools, siteId: string): Content {
  const uids = Object.keys(strapi.contentTypes).filter((uid) => uid.startsWith('api::'));
  const first = new Map<string, number[]>();
  const query = (uid: string) => strapi.db.query(uid as Uid);
  const ids = async (uid: string) =>
    (await query(uid).findMany({ select: ['id'] })).map(({ id }: { id: number }) => id);

  return {
    async remember() {
      for (const uid of uids) first.set(uid, await ids(uid));
    },
    async reset() {
      for (const uid of uids) {
        const known = new Set(first.get(uid));
        const more = (await ids(uid)).filter((id) => !known.has(id));
        if (more.length > 0) await query(uid).deleteMany({ where: { id: { $in: more } } });
      }
    },
    async create(type, fields, { locale, draft = false } = {}) {
      if (!uids.includes(type)) {
        throw new Error(`This host has no content type "${type}". It has: ${uids.join(', ') || 'none'}`);
      }
      const contentType = strapi.contentTypes[type as Uid];
      const publish = contentType?.options?.draftAndPublish === true && !draft;
      const made = await strapi
        .documents(type as Uid)
        .create({ data: fields as never, ...(locale && { locale }), ...(publish && { status: 'published' }) } as never)
        .catch((error: Error) => {
          throw new Error(`app.content.create('${type}'): ${problemOf(error)}`);
        });
      const { documentId } = made as { documentId: string };
      return { ...(made as Items), documentId, path: await tools.pathOf(siteId, type, documentId, locale) };
    },
  };
}

/** Strapi's validation errors name the fields in `details`. */
function problemOf(error: Error & { details?: { errors?: { path: string[]; message: string }[] } }): string {
  const [first] = error.details?.errors ?? [];
  return first ? `${first.path.join('.')}: ${first.message}` : error.message;
}
