import { AppsError } from '../common/errors';
import type { DeletedRecord, RecordStore } from './types';

const RECORD = 'plugin::apps.record';

interface Event {
  params: { where?: object; _q?: unknown; filters?: unknown };
  /** After the deletion of one row: that row. */
  result?: { id?: unknown } | null;
  /** The same object before and after one call. */
  state: { deleted?: DeletedRecord[] };
}

type Hook = (event: Event) => Promise<void>;

/** The part of Strapi that is used here: its query engine, and the hooks of it and of the document service. */
export interface WatchedStrapi {
  db: {
    lifecycles: { subscribe(subscriber: { models: string[] } & Record<string, Hook | string[]>): unknown };
    query(uid: string): { findMany(params: object): Promise<{ id: number; site: string; app: string }[]> };
  };
  documents: { use(middleware: (action: { uid: string; action: string }, next: () => unknown) => unknown): unknown };
}

const refusal = (): AppsError =>
  new AppsError(
    'BadRequestError',
    "Records are written by strapi.plugin('apps').service('records'): see \"Records from code\" in docs/operate/storage.md",
  );

/** Actions of the document service that store something; hooks of the query engine see deletions. */
const storing = new Set(['create', 'update', 'clone', 'publish', 'unpublish', 'discardDraft']);

/**
 * Keeps the indexes right when Strapi's own services write records (docs/decisions/foreign-writes.md): refuses to create or
 * change a record; deleting one also deletes its index rows. Strapi turns the hooks off during an import or a transfer.
 */
export function watchForeignWrites({ db, documents }: WatchedStrapi, store: () => RecordStore): void {
  const refuse: Hook = async () => {
    throw refusal();
  };
  const find: Hook = async ({ params, state }) => {
    const { where, _q, filters } = params;
    const found = await db.query(RECORD).findMany({ select: ['id', 'site', 'app'], where, _q, filters });
    state.deleted = found.map(({ id, site, app }) => ({ seq: id, key: { site, app } }));
  };
  const forgetAll: Hook = async ({ state }) => store().forgetDeleted(state.deleted ?? []);
  // `delete` deletes the first row that it finds.
  const forgetOne: Hook = async ({ state, result }) =>
    store().forgetDeleted((state.deleted ?? []).filter(({ seq }) => seq === result?.id));
  db.lifecycles.subscribe({
    models: [RECORD],
    beforeCreate: refuse,
    beforeCreateMany: refuse,
    beforeUpdate: refuse,
    beforeUpdateMany: refuse,
    beforeDelete: find,
    beforeDeleteMany: find,
    afterDelete: forgetOne,
    afterDeleteMany: forgetAll,
  });
  // Before Strapi's validation, which would name the columns instead of the service.
  documents.use(({ uid, action }, next) => {
    if (uid === RECORD && storing.has(action)) throw refusal();
    return next();
  });
}
