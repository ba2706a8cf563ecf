import type { Json } from '../../../../shared/json';
import { AppsError, notFound } from '../../common/errors';
import type { PreparedCall } from '../types';
import type { CallParams, Guard, Need } from './access';
import { inPieces } from './output-pieces';

/** The part of Strapi's documents service of one content type that is used here. */
export interface Documents {
  findMany(params: object): Promise<object[]>;
  findFirst(params: object): Promise<{ documentId: string } | null>;
  count(params: object): Promise<number>;
  create(params: object): Promise<{ documentId: string }>;
  update(params: object): Promise<object | null>;
  delete(params: object): Promise<Entries>;
  /** This and the next two exist only for types with draft & publish. */
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
  /** Takes the single entry that was read, with `id` and `updatedAt`. */
  noteEntry(entry: object | null): void;
}

/** One method of `context.api.documents(uid)`: a row of the table below. */
interface Method {
  need: Need;
  /** Accepted parameters, and required ones. */
  allowed: readonly string[];
  required: readonly string[];
  /** Type of its result in `shared/context-calls.d.ts`; default: `Value`. */
  type?: string;
  /** Its actions on an existing document, for which administrators may have conditions. */
  target?: (call: Call) => Need['admin'][];
  /** Checks rights and parameters without a database query; the returned function queries the database. */
  prepare(call: Call): Promise<() => Promise<Json>>;
}

/** Prepares a call of a method: see PreparedCall. Rejects for missing rights or wrong parameters. */
export async function prepareCall({ target, prepare }: Method, call: Call): Promise<Omit<PreparedCall, 'reads'>> {
  const work = await prepare(call);
  const conditions = target === undefined ? [] : call.guard.conditions('find', ...target(call));
  if (conditions.length === 0) return { run: work };
  const check = async () => {
    if (!(await meets(call, conditions))) throw noDocument();
  };
  const run = async () => {
    // The check is repeated in the transaction that writes, because the document may have changed.
    await check();
    return work();
  };
  return { check, run };
}

const READ = ['filters', 'sort', 'fields', 'populate', 'locale', 'status'];
const SHOW = ['fields', 'populate', 'locale'];

/** The fields of a query with `updatedAt`, and whether the call itself has not asked for it. */
function withTime({ fields }: { fields?: unknown }): { fields: { fields?: unknown[] }; hidden: boolean } {
  const hidden = Array.isArray(fields) && fields.length > 0 && !fields.includes('*') && !fields.includes('updatedAt');
  return { fields: hidden ? { fields: [...fields, 'updatedAt'] } : {}, hidden };
}

/** What a query has found, as the requester may see it. */
const show = ({ guard }: Call, found: unknown): Promise<Json> => inPieces(found, (piece) => guard.output(piece));

const noDocument = () => notFound('There is no such document.');

/** Parameters that select a version. */
const version = ({ locale, status }: CallParams): object => ({ ...(locale === undefined ? {} : { locale }), status });

type Target = Pick<Call, 'documents' | 'documentId' | 'locale'>;

/**
 * Whether the document meets the conditions of an administrator's rights to read it and to do this to it; with `locale: '*'` in each of
 * its languages.
 */
async function meets({ documents, documentId, locale }: Target, conditions: object[]): Promise<boolean> {
  const filters = { $and: [{ documentId }, ...conditions] };
  if (locale !== '*') {
    const language = locale === undefined ? {} : { locale };
    return (await documents.findFirst({ filters, ...language, status: 'draft' })) !== null;
  }
  const versions = { locale, status: 'draft' };
  const permitted = await documents.count({ filters, ...versions });
  const all = await documents.count({ filters: { documentId }, ...versions });
  return permitted > 0 && permitted === all;
}

/** The right to publish. */
export const publishing: Need = { action: 'update', admin: 'publish' };

/** Whether what is written is also published: a separate right of administrators. */
const publishes = ({ status, documents }: Call): boolean => status === 'published' && documents.publish !== undefined;

async function requirePublishing(call: Call): Promise<void> {
  if (publishes(call)) await call.guard.need(publishing);
}

/** ForbiddenError where an administrator may not publish what was created just now, which is undone then. */
async function requirePublishable(call: Call, { documentId }: { documentId: string }): Promise<void> {
  const conditions = publishes(call) ? call.guard.conditions('find', publishing.admin) : [];
  if (conditions.length === 0 || (await meets({ ...call, documentId }, conditions))) return;
  throw new AppsError('ForbiddenError', 'You may not publish such a document.');
}

/** A method that adds or removes versions of a document. */
function versions(name: 'publish' | 'unpublish' | 'discardDraft' | 'delete', need: Need): Method {
  return {
    need,
    allowed: ['documentId', 'locale'],
    required: ['documentId'],
    target: () => [need.admin],
    async prepare({ documents, documentId, locale, guard }) {
      const change = documents[name];
      if (change === undefined)
        throw new AppsError('BadRequestError', `${name}() needs a content type with draft & publish.`);
      return async () => {
        const { entries } = await change({ documentId, ...(locale === undefined ? {} : { locale }) });
        if (entries.length === 0) throw noDocument();
        return { documentId, entries: await guard.output(entries) };
      };
    },
  };
}

/**
 * The methods by name (docs/reference/logic.md#contextapi). The content API has no action to publish: publishing needs
 * `update`.
 */
export const methods: Record<string, Method> = {
  findMany: {
    need: { action: 'find', admin: 'find' },
    allowed: [...READ, 'pagination', 'start', 'limit'],
    required: [],
    type: 'Value[]',
    async prepare(call) {
      const query = await call.guard.query(call.query);
      return async () => show(call, await call.documents.findMany({ ...query, ...version(call), ...call.page }));
    },
  },
  findFirst: {
    need: { action: 'find', admin: 'find' },
    allowed: READ,
    required: [],
    async prepare(call) {
      const query = await call.guard.query(call.query);
      return async () => show(call, await call.documents.findFirst({ ...query, ...version(call) }));
    },
  },
  findOne: {
    need: { action: 'findOne', admin: 'find' },
    allowed: ['documentId', ...SHOW, 'status'],
    required: ['documentId'],
    async prepare(call) {
      const query = await call.guard.query({ ...call.query, filters: { documentId: { $eq: call.documentId } } });
      const { fields, hidden } = withTime(query);
      return async () => {
        const found = await call.documents.findFirst({ ...query, ...fields, ...version(call) });
        call.noteEntry(found);
        return show(call, found && hidden ? { ...found, updatedAt: undefined } : found);
      };
    },
  },
  count: {
    need: { action: 'find', admin: 'find' },
    allowed: ['filters', 'locale', 'status'],
    required: [],
    type: 'number',
    async prepare(call) {
      const query = await call.guard.query(call.query);
      return () => call.documents.count({ ...query, ...version(call) });
    },
  },
  create: {
    need: { action: 'create', admin: 'create' },
    allowed: ['data', ...SHOW, 'status'],
    required: ['data'],
    async prepare(call) {
      await requirePublishing(call);
      const { documents, guard } = call;
      const { fields, populate } = await guard.query(call.query);
      const data = await guard.input(call.data, 'create');
      return async () => {
        const created = await documents.create({ fields, populate, ...version(call), data: structuredClone(data) });
        await requirePublishable(call, created);
        return guard.output(created);
      };
    },
  },
  update: {
    need: { action: 'update', admin: 'update' },
    allowed: ['documentId', 'data', ...SHOW, 'status'],
    required: ['documentId', 'data'],
    target: (call) => (publishes(call) ? ['update', 'publish'] : ['update']),
    async prepare(call) {
      await requirePublishing(call);
      const { documents, guard, documentId } = call;
      const { fields, populate } = await guard.query(call.query);
      const data = await guard.input(call.data, 'update');
      const draft = () =>
        documents.findFirst({ filters: { documentId: { $eq: documentId } }, ...version(call), status: 'draft' });
      return async () => {
        await guard.requireChange(call.data, draft);
        const params = { documentId, fields, populate, ...version(call), data: structuredClone(data) };
        const updated = await documents.update(params);
        if (updated === null) throw noDocument();
        return guard.output(updated);
      };
    },
  },
  delete: versions('delete', { action: 'delete', admin: 'delete' }),
  publish: versions('publish', publishing),
  unpublish: versions('unpublish', publishing),
  discardDraft: versions('discardDraft', { action: 'update', admin: 'update' }),
};
