import { type Items, isItems, type Json } from '../../../../shared/json';
import { AppsError } from '../../common/errors';
import type { ContentData } from '../../logic/types';
import { type ContentTypeInfo, uidAttribute } from '../../sites';
import type { ContentItem } from '../../sites/types';
import { contentData } from '../run/context-data';
import type { Run } from '../run/types';
import type { Handlers } from './handlers';

/** Calls a method of `context.api.documents` with the requester's permissions. */
export type Documents = (uid: string, method: string, params: Items) => Promise<Json>;

/** Names of fields in Plone and in Strapi. */
const fieldNames: Record<string, string> = {
  Title: 'title',
  sortable_title: 'title',
  created: 'createdAt',
  modified: 'updatedAt',
  effective: 'publishedAt',
  UID: 'documentId',
};

/** Plone's workflow transitions, and the states they lead to, as methods of Strapi's draft & publish. */
const transitions: Record<string, 'publish' | 'unpublish'> = {
  publish: 'publish',
  published: 'publish',
  unpublish: 'unpublish',
  retract: 'unpublish',
  reject: 'unpublish',
  private: 'unpublish',
  draft: 'unpublish',
};

/** `context.api.content` for apps made for Rapido: Strapi's documents with Plone's names and the same rights. */
export function contentCalls(
  run: Run,
  documents: Documents,
): Pick<Handlers, 'contentFind' | 'contentCreate' | 'contentTransition'> {
  const { visit, services } = run;
  const { content } = services.sites;
  const typeNamed = (name: string): ContentTypeInfo => {
    const type = content.typeNamed(name);
    if (!type) throw new AppsError('BadRequestError', `There is no content type "${name}"`);
    return type;
  };
  const item = async ({ uid }: ContentTypeInfo, fields: Json, draft = false): Promise<ContentData> =>
    contentData((await content.describe(visit.site, uid, fields as Items, { draft })) as ContentItem);

  return {
    async contentFind({ type: name, filters, sort, limit }) {
      const type = typeNamed(name);
      const found = await documents(type.uid, 'findMany', {
        filters: filtersOf(type, filters),
        ...(sort === null ? {} : { sort: fieldOf(type, sort) }),
        ...(limit === null ? {} : { limit }),
      });
      return Promise.all((found as Json[]).map((fields) => item(type, fields)));
    },
    async contentCreate({ type: name, id, data }) {
      const type = typeNamed(name);
      const uid = uidAttribute(type);
      if (id !== null && uid === undefined)
        throw new AppsError('BadRequestError', `Content of the type "${type.uid}" has no field for an id`);
      const all = id === null ? data : { ...data, [uid as string]: id };
      return item(type, await documents(type.uid, 'create', { data: all, status: 'draft' }), true);
    },
    async contentTransition({ type: name, documentId, transition }) {
      const method = Object.hasOwn(transitions, transition) ? transitions[transition] : undefined;
      if (!method) {
        const known = Object.keys(transitions).join(', ');
        throw new AppsError('BadRequestError', `There is no transition "${transition}"; there are ${known}`);
      }
      await documents(typeNamed(name).uid, method, { documentId });
      return null;
    },
  };
}

/** Strapi's name of a field, by Plone's name or Strapi's own; a sort order after it (`created:desc`) is kept. */
function fieldOf(type: ContentTypeInfo, name: string): string {
  const [field = '', ...order] = name.split(':');
  const known = field === 'id' || field === 'getId' ? (uidAttribute(type) ?? 'documentId') : undefined;
  const own = known ?? (Object.hasOwn(fieldNames, field) ? (fieldNames[field] ?? field) : field);
  return [own, ...order].join(':');
}

/** Strapi's filters: a value becomes `$eq`, a list `$in`; an object holds Strapi's own operators. */
function filtersOf(type: ContentTypeInfo, given: Items): Items {
  const filters: Items = {};
  for (const [name, value] of Object.entries(given)) {
    // `contentFind` finds published content only.
    if (name === 'review_state' && value === 'published') continue;
    filters[fieldOf(type, name)] = isItems(value) ? value : { [Array.isArray(value) ? '$in' : '$eq']: value };
  }
  return filters;
}
