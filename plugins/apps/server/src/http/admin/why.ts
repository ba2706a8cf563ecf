import type { Context } from 'koa';
import { z } from 'zod';
import {
  type ContentOperation,
  contentOperations,
  type Extent,
  type RecordOperation,
  type RightsMatrix,
  recordOperations,
  type Why,
  type WhyStep,
  type whyRoutes,
} from '../../../../shared/admin-api';
import {
  type App,
  blockReasons,
  callVisit,
  newDryRun,
  permittedBlock,
  permittedRecord,
  type Run,
  refusal,
  requireRight,
  rightReasons,
  type Visit,
  withRun,
} from '../../apps';
import { type Impersonation, rightsOf } from '../../auth';
import type { Requester, Rights } from '../../auth/types';
import { AppsError, attemptAsync, missing, notFound } from '../../common/errors';
import { must, readParameters } from '../../common/validation';
import type { StoredRecord } from '../../records/types';
import type { Site } from '../../sites/types';
import { jsonRefusal } from '../app/json-use';
import type { HttpServices } from '../request/exchange';
import { appOf, type Handlers } from './handler';

const operations = [...recordOperations, 'show', ...contentOperations] as const;

/** Characters of a name. */
const MAX_NAME = 300;

const text = z.string().max(MAX_NAME, must(`at most ${MAX_NAME} characters`));

const parameters = z.object({
  site: text,
  who: text.regex(/^(anonymous|(user|group|admin):.+)$/s, must('anonymous, user:…, group:… or admin:…')),
  operation: z.enum(operations, must(`one of ${operations.join(', ')}`)),
  app: text.optional(),
  block: text.optional(),
  record: text.optional(),
  type: text.optional(),
});

type Question = z.infer<typeof parameters>;

/** What the admin routes about rights answer (shared/admin/why.ts). */
export const whyHandlers: Handlers<typeof whyRoutes> = {
  async why(ctx, services): Promise<Why> {
    const question = readParameters(parameters, ctx.query);
    const requester = await requesterOf(services, question.who);
    const site = await services.sites.site(question.site);
    if (!site) throw notFound(missing.site(question.site));
    const isContent = question.type !== undefined;
    const answer = isContent
      ? await whyContent(services, requester, question)
      : await whyApp(services, site, requester, question);
    const { kind, username, groups, isManager } = requester;
    return { ...answer, requester: { kind, name: username, groups: [...groups], isManager } };
  },

  rightsMatrix: (ctx, services) => matrix(ctx, services),
};

type Answer = Omit<Why, 'requester'>;

/** The requester that a question or a preview names. NotFoundError for none who may act. */
export async function requesterOf({ requesters }: HttpServices, who: string): Promise<Requester> {
  const [, kind, name = ''] = /^(user|group|admin):(.+)$/s.exec(who) ?? [];
  const impersonation: Impersonation =
    kind === 'group'
      ? { kind, name }
      : kind === 'user'
        ? { kind, id: name }
        : kind === 'admin'
          ? { kind: 'administrator', id: name }
          : { kind: 'anonymous' };
  const requester = await requesters.impersonations.of(impersonation);
  if (!requester) throw notFound(`There is no ${kind} "${name}", or they may not log in`);
  return requester;
}

/** The right of each operation to a record that `creator` has made. */
const rightTo: Record<RecordOperation, (rights: Rights, creator: string | null) => boolean> = {
  view: ({ view }, creator) => view(creator),
  create: ({ create }) => create,
  edit: ({ edit }, creator) => edit(creator),
  delete: (rights, creator) => rights.delete(creator),
  deleteAll: ({ deleteAll }) => deleteAll,
  manage: ({ manager }) => manager,
};

/** Operations that run the logic of the record's block. */
const runsBlock: ReadonlySet<string> = new Set(['create', 'edit', 'delete']);

const isRecordOperation = (operation: string): operation is RecordOperation =>
  (recordOperations as readonly string[]).includes(operation);

async function whyApp(
  services: HttpServices,
  site: Site,
  requester: Requester,
  { app: appId, operation, block, record: id }: Question,
): Promise<Answer> {
  const app = appId === undefined ? null : await services.loadApp(site, appId);
  if (!app) throw notFound(missing.app(appId ?? '', site.id));
  const record = id === undefined ? null : await services.store.get({ site: site.id, app: app.id }, id);
  if (id !== undefined && !record) throw notFound(missing.record(id, app.id));
  const visit = await visitOf(services, site, requester, app);
  const steps: WhyStep[] = [];
  let refused: AppsError | null = null;
  const ask = async (step: Omit<WhyStep, 'allowed' | 'message'>, check: (run: Run) => unknown): Promise<void> => {
    const { error } = await attemptAsync(() => withRun(services, visit, app, async (run) => check(run)));
    const isRight = error === null || error.status === 401 || error.status === 403;
    steps.push({ ...step, allowed: error === null, message: isRight ? null : error.message });
    refused ??= error;
  };
  if (isRecordOperation(operation)) {
    const creator = record ? record.creator : requester.identity || null;
    const isOwn = creator !== null && creator === requester.identity;
    const grounds = rightReasons(app, requester, operation, isOwn);
    await ask({ about: 'records', block: null, grounds }, (run) => checkRight(run, operation, record, creator));
    const [step] = steps;
    if (step && operation !== 'manage')
      step.message ??= jsonRefusal({ app, requester }, operation, isOwn)?.message ?? null;
  } else if (operation !== 'show') throw new AppsError('BadRequestError', 'An operation on content needs its "type"');
  const named = operation === 'show' || operation === 'create' ? block : blockOf(record);
  const found = named === undefined ? undefined : app.blocks.get(named);
  if (operation === 'show' && !found) throw notFound(missing.block(named ?? '', app.id));
  if (found && (operation === 'show' || runsBlock.has(operation))) {
    const grounds = blockReasons(app, requester, found);
    await ask({ about: 'block', block: found.id, grounds }, (run) => permittedBlock(run, found.id));
  }
  return { allowed: refused === null, status: statusOf(refused), steps };
}

const blockOf = (record: StoredRecord | null): string | undefined =>
  typeof record?.items.block === 'string' ? record.items.block : undefined;

/** Asks as the handlers of the JSON interface do. */
async function checkRight(run: Run, operation: RecordOperation, record: StoredRecord | null, creator: string | null) {
  const may = (made: string | null) => rightTo[operation](run.rights, made);
  if (record && (operation === 'view' || operation === 'edit' || operation === 'delete'))
    return permittedRecord(run, record.id, may, operation);
  return requireRight(run, may(creator), operation);
}

/** A visit whose run writes nothing. */
async function visitOf(services: HttpServices, site: Site, requester: Requester, app: App): Promise<Visit> {
  const content = await services.sites.content.resolve(site, '', requester);
  if (!content) throw notFound(missing.site(site.id));
  const address = services.sites.urls.app(site, app.id);
  return callVisit(services, { site, content, requester, address, params: {}, through: 'panel', dry: newDryRun() });
}

function statusOf(error: AppsError | null): Why['status'] {
  if (error === null) return 200;
  return error.status === 401 || error.status === 403 || error.status === 404 ? error.status : 500;
}

/** Parameters with which a method is asked for, without being carried out. */
const sample = (operation: string): { documentId?: string; data?: object } => ({
  ...(operation === 'findMany' || operation === 'create' ? {} : { documentId: 'none' }),
  ...(operation === 'create' || operation === 'update' ? { data: {} } : {}),
});

async function whyContent(services: HttpServices, requester: Requester, question: Question): Promise<Answer> {
  const { type = '', operation } = question;
  if (!(contentOperations as readonly string[]).includes(operation))
    throw new AppsError('BadRequestError', `"${operation}" is no operation on content`);
  const permissions = services.contentRights.permissions(type, operation, requester);
  const call = sample(operation as ContentOperation);
  const { error } = await attemptAsync(() => services.documents(type, operation, call as never, requester));
  // The sample is no document: what is wrong with it is no missing right.
  const refused = error && (error.status === 401 || error.status === 403) ? error : null;
  const none = { position: null, list: null, name: null };
  const grounds = permissions.map((permission) => ({ ...none, kind: 'permission' as const, permission }));
  const step: WhyStep = { allowed: refused === null, about: 'content', block: null, grounds, message: null };
  return { allowed: refused === null, status: statusOf(refused), steps: [step] };
}

/** What each group may do with an app: as a user of that group without a name. */
async function matrix(ctx: Context, services: HttpServices): Promise<RightsMatrix> {
  const { app } = await appOf(ctx, services);
  const groups = await services.requesters.impersonations.groups();
  const requesters: Requester[] = [];
  for (const name of groups) {
    const requester = await services.requesters.impersonations.of({ kind: 'group', name });
    if (requester) requesters.push(requester);
  }
  const rights = requesters.map((requester) => ({ requester, rights: rightsOf(requester, app.settings.acl) }));
  const rows: RightsMatrix['rows'] = recordOperations.map((operation) => ({
    operation,
    block: null,
    cells: rights.map(({ requester, rights: own }) => extent(own, operation, requester.identity)),
  }));
  for (const { id } of app.blocks.values()) {
    const cells = await Promise.all(requesters.map((requester) => sees(app, requester, id)));
    rows.push({ operation: 'show', block: id, cells });
  }
  return { groups, contentTypes: services.contentRights.types(), rows };
}

function extent(rights: Rights, operation: RecordOperation, identity: string): Extent {
  if (rightTo[operation](rights, null)) return 'all';
  return rightTo[operation](rights, identity || null) ? 'own' : 'none';
}

async function sees(app: App, requester: Requester, block: string): Promise<Extent> {
  const rights = rightsOf(requester, app.settings.acl);
  const visit = { requester, own: undefined };
  const { error } = await attemptAsync(async () => permittedBlock({ app, rights, visit }, block));
  return error && error.status === refusal(requester, '').status ? 'none' : 'all';
}
