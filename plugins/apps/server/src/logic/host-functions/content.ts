import { type HostFunction, row } from './row';
import * as is from './schema';

/** `context.api.content` as apps made for Rapido use it; over `documents`, with its rights. */
export const contentFunctions: readonly HostFunction[] = [
  row(
    'contentFind',
    'Finds published content of one type, with the permissions of the requester.',
    [
      'api.content.find({ portal_type, sort_on, sort_order, sort_limit, …fields })',
      'api.content.find(portal_type=…, sort_on=…, sort_order=…, sort_limit=…, …fields)',
    ],
    { type: is.string, filters: is.items, sort: is.nullable(is.string), limit: is.nullable(is.count) },
    ({ host }, { type, filters, ...order }) => host.contentFind(type, filters, order),
  ),
  row(
    'contentCreate',
    'Makes content, as a draft where its type has drafts.',
    ['api.content.create({ type, id?, …fields })', 'api.content.create(type=…, id=None, …fields)'],
    { type: is.string, id: is.nullable(is.string), data: is.items },
    ({ host }, a) => host.contentCreate(a.type, a.id, a.data),
  ),
  row(
    'contentTransition',
    'Publishes content, or takes it back.',
    ['api.content.transition(obj, transition)', 'api.content.transition(obj=…, transition=…)'],
    { type: is.string, documentId: is.string, transition: is.string },
    ({ host }, a) => host.contentTransition(a.type, a.documentId, a.transition),
  ),
];
