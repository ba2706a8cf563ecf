import type { Json } from '../../../../shared/json';
import { AppsError } from '../../errors';
import type { Guard } from './guard';
import type { CallParams, Need } from './types';

/** Strapi's documents service of one content type, as far as it is called here. */
export interface Documents {
  findMany(params: object): Promise<object[]>;
  findFirst(params: object): Promise<{ documentId: string } | null>;
  count(params: object): Promise<number>;
  create(params: object): Promise<object>;
  update(params: object): Promise<object | null>;
  delete(params: object): Promise<Entries>;
  /** These exist only for types with draft & publish. */
  publish?(params: object): Promise<Entries>;
  unpublish?(params: object): Promise<Entries>;
  discardDraft?(params: object): Promise<Entries>;
}

interface Entries {
  documentId: string;
  entries: object[];
}

export interface Call extends CallParams {
  documents: Documents;
  guard: Guard;
}

/** One method of `context.api.documents(uid)`: a row of the table below. */
interface Method {
  need: Need;
  /** Parameters it takes, and those it cannot do without. */
  allowed: readonly string[];
  required: readonly string[];
  run(call: Call): Promise<Json>;
}

const READ = ['filters', 'sort', 'fields', 'populate', 'locale', 'status'];
const SHOW = ['fields', 'populate', 'locale'];

const notFound = (): AppsError => new AppsError('NotFoundError', 'There is no such document.');

/** Parameters that say which version is meant. */
const version = ({ locale, status }: CallParams): object => ({ ...(locale === undefined ? {} : { locale }), status });

/** Where an administrator's rights have conditions: NotFoundError unless they may read the document and do this to it. */
async function requireTarget({ documents, guard, documentId, locale }: Call, action: Need['admin']): Promise<void> {
  const conditions = guard.conditions('find', action);
  if (conditions.length === 0) return;
  const filters = { $and: [{ documentId }, ...conditions] };
  const language = locale === undefined || locale === '*' ? {} : { locale };
  if ((await documents.findFirst({ filters, ...language, status: 'draft' })) === null) throw notFound();
}

/** Writing a published version is publishing: a right of its own for administrators. */
async function requirePublishing({ guard, status, documents }: Call): Promise<void> {
  if (status === 'published' && documents.publish !== undefined)
    await guard.need({ action: 'update', admin: 'publish' });
}

/** A method that changes which versions of a document there are. */
function versions(name: 'publish' | 'unpublish' | 'discardDraft', admin: Need['admin']): Method {
  return {
    need: { action: 'update', admin },
    allowed: ['documentId', 'locale'],
    required: ['documentId'],
    async run(call) {
      const { documents, documentId, locale, guard } = call;
      const change = documents[name];
      if (change === undefined)
        throw new AppsError('BadRequestError', `${name}() needs a content type with draft & publish.`);
      await requireTarget(call, admin);
      const { entries } = await change({ documentId, ...(locale === undefined ? {} : { locale }) });
      if (entries.length === 0) throw notFound();
      return { documentId, entries: await guard.output(entries) };
    },
  };
}

/** The methods by name (contract, section 8); there is no content-API action to publish, so that it takes `update`. */
export const methods: Record<string, Method> = {
  findMany: {
    need: { action: 'find', admin: 'find' },
    allowed: [...READ, 'pagination', 'start', 'limit'],
    required: [],
    async run(call) {
      const query = await call.guard.query(call.query);
      return call.guard.output(await call.documents.findMany({ ...query, ...version(call), ...call.page }));
    },
  },
  findFirst: {
    need: { action: 'find', admin: 'find' },
    allowed: READ,
    required: [],
    async run(call) {
      const query = await call.guard.query(call.query);
      return call.guard.output(await call.documents.findFirst({ ...query, ...version(call) }));
    },
  },
  findOne: {
    need: { action: 'findOne', admin: 'find' },
    allowed: ['documentId', ...SHOW, 'status'],
    required: ['documentId'],
    async run(call) {
      const query = await call.guard.query({ ...call.query, filters: { documentId: { $eq: call.documentId } } });
      return call.guard.output(await call.documents.findFirst({ ...query, ...version(call) }));
    },
  },
  count: {
    need: { action: 'find', admin: 'find' },
    allowed: ['filters', 'locale', 'status'],
    required: [],
    run: async (call) => call.documents.count({ ...(await call.guard.query(call.query)), ...version(call) }),
  },
  create: {
    need: { action: 'create', admin: 'create' },
    allowed: ['data', ...SHOW, 'status'],
    required: ['data'],
    async run(call) {
      await requirePublishing(call);
      const { fields, populate } = await call.guard.query(call.query);
      const data = await call.guard.input(call.data, 'create');
      return call.guard.output(await call.documents.create({ fields, populate, ...version(call), data }));
    },
  },
  update: {
    need: { action: 'update', admin: 'update' },
    allowed: ['documentId', 'data', ...SHOW, 'status'],
    required: ['documentId', 'data'],
    async run(call) {
      await requirePublishing(call);
      await requireTarget(call, 'update');
      const { documents, guard, documentId } = call;
      const { fields, populate } = await guard.query(call.query);
      const data = await guard.input(call.data, 'update');
      const updated = await documents.update({ documentId, fields, populate, ...version(call), data });
      if (updated === null) throw notFound();
      return guard.output(updated);
    },
  },
  delete: {
    need: { action: 'delete', admin: 'delete' },
    allowed: ['documentId', 'locale'],
    required: ['documentId'],
    async run(call) {
      await requireTarget(call, 'delete');
      const { documents, guard, documentId, locale } = call;
      const { entries } = await documents.delete({ documentId, ...(locale === undefined ? {} : { locale }) });
      if (entries.length === 0) throw notFound();
      return { documentId, entries: await guard.output(entries) };
    },
  },
  publish: versions('publish', 'publish'),
  unpublish: versions('unpublish', 'publish'),
  discardDraft: versions('discardDraft', 'update'),
};
