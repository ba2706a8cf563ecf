import type { Json } from '../../../../shared/json';
import { methods } from '../documents/methods';
import type { ContentData } from '../types';
import * as is from './row';
import { returns, row } from './row';

/** The type of a document method's result (documents/methods.ts) in Python. */
const pythonType = (type = 'Value') => ({ 'Value[]': 'list[Any]', number: 'int' })[type] ?? 'Any';

/** Host functions for the host's content, with the permissions of the requester. */
export const contentFunctions = {
  portalGet: row({
    doc: 'Reads the content item at a path of the site.',
    details: 'Null if there is none that the requester may read.',
    written: [
      'portal.get(path), api.content.get({ path })',
      'portal.get(path), portal[path], api.content.get(path=path)',
    ],
    types: {
      Portal: ['get(path: string | { path: string }): ContentItem | null'],
      ContentApi: ['get(path: string | { path: string }): ContentItem | null'],
    },
    python: {
      Portal: [
        "def get(self, path: str = '') -> ContentItem | None",
        'def __getitem__(self, path: str) -> ContentItem',
      ],
      ContentApi: ["def get(self, path: str = '') -> ContentItem | None"],
    },
    args: { path: is.string },
    permission: 'content',
    returns: returns<ContentData | null>(),
  }),
  contentUpdate: row({
    doc: 'Changes fields of the current content item.',
    details: 'The properties show the new values.',
    written: [
      "content.update(data), content.title = '…'",
      "content.update(data), content.update(title='…'), content.title = '…'",
    ],
    types: { Content: ['update(data: Items): this'] },
    python: { Content: ['def update(self, data: dict[str, Any] | None = None, **more: Any) -> Content'] },
    args: { data: is.items },
    permission: 'content-change',
    returns: returns<ContentData>(),
  }),
  // The interface of apps made for Rapido; it uses `documents` with its rights.
  contentFind: row({
    doc: 'Finds published content of one type, with the permissions of the requester.',
    details: 'The type by its uid, singular or plural name; other names are fields and their values.',
    written: [
      'api.content.find({ portal_type, sort_on, sort_order, sort_limit, …fields })',
      'api.content.find(portal_type=…, sort_on=…, sort_order=…, sort_limit=…, …fields)',
    ],
    types: {
      ContentApi: [
        `find(query: {
    portal_type: string;
    sort_on?: string;
    sort_order?: string;
    sort_limit?: number;
    [field: string]: unknown;
  }): ContentItem[]`,
      ],
    },
    python: {
      ContentApi: [
        'def find(self, context: Any = None, depth: Any = None, portal_type: str | None = None, type: str | None = None, sort_on: str | None = None, sort_order: str | None = None, sort_limit: int | None = None, **filters: Any) -> list[ContentItem]',
      ],
    },
    args: { type: is.string, filters: is.items, sort: is.nullable(is.string), limit: is.nullable(is.count) },
    permission: 'content',
    returns: returns<ContentData[]>(),
  }),
  contentCreate: row({
    doc: 'Makes content, as a draft where its type has drafts.',
    details: '`id` is its name in its address.',
    written: ['api.content.create({ type, id?, …fields })', 'api.content.create(type=…, id=None, …fields)'],
    types: { ContentApi: ['create(item: { type: string; id?: string; [field: string]: unknown }): ContentItem'] },
    python: {
      ContentApi: [
        'def create(self, container: Any = None, type: str | None = None, id: str | None = None, title: str | None = None, safe_id: bool = False, portal_type: str | None = None, **fields: Any) -> ContentItem',
      ],
    },
    args: { type: is.string, id: is.nullable(is.string), data: is.items },
    permission: 'content-change',
    returns: returns<ContentData>(),
  }),
  contentTransition: row({
    doc: 'Publishes content, or unpublishes it.',
    written: ['api.content.transition(obj, transition)', 'api.content.transition(obj=…, transition=…)'],
    types: {
      ContentApi: [
        "transition(obj: ContentItem | Content, transition: 'publish' | 'unpublish'): void",
        'transition(change: { obj: ContentItem | Content; transition?: string; to_state?: string }): void',
      ],
    },
    python: {
      ContentApi: [
        'def transition(self, obj: ContentItem | Content | None = None, transition: str | None = None, to_state: str | None = None) -> None',
      ],
    },
    args: { type: is.string, documentId: is.string, transition: is.string },
    permission: 'content-change',
    returns: returns<null>(),
  }),
  documents: row({
    doc: "Calls a method of Strapi's documents with the requester's permissions.",
    written: ['api.documents(uid).findMany(params)', 'api.documents(uid).findMany(filters={…})'],
    types: {
      Api: ['documents(uid: string): Documents'],
      Documents: Object.entries(methods).map(
        ([name, { required, type = 'Value' }]) => `${name}(params${required.length > 0 ? '' : '?'}: object): ${type}`,
      ),
    },
    python: {
      Api: ['def documents(self, uid: str) -> Documents'],
      Documents: Object.entries(methods).map(
        ([name, { type }]) =>
          `def ${name}(self, params: dict[str, Any] | None = None, **more: Any) -> ${pythonType(type)}`,
      ),
    },
    args: { uid: is.string, method: is.oneOf(Object.keys(methods)), params: is.items },
    permission: 'content-change',
    returns: returns<Json>(),
  }),
};
