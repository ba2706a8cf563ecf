import { AsyncLocalStorage } from 'node:async_hooks';
import type { Core } from '@strapi/strapi';
import type { RuleEvent as Event, RuleFailure } from '../../../shared/admin-api';
import type { Items } from '../../../shared/json';
import type { DocumentCalls } from '../apps';
import { authorityOf, type Requesters } from '../auth';
import type { Requester, StrapiAuth } from '../auth/types';
import { isAppsError } from '../common/errors';
import type { Logger } from '../common/log';
import type { HostDatabase } from '../database';
import { JobFailure } from '../jobs';
import type { JobHandler, Jobs, NewJob } from '../jobs/types';
import type { ContentItem, Sites } from '../sites/types';
import { type CallServices, callOfJob, requesterOfJob, siteOfJob } from './calls';
import { type Action, type ContentEvent, createContentEvents, createItems, eventsOf } from './host-events';
import { siteOfApp } from './rule-entries';

/** The requester who changes content, and the rules that led to the change. */
interface Actor {
  requester: Requester;
  /** Ids of the rules whose functions are running: a rule never triggers itself. */
  chain: ReadonlySet<number>;
}

const noRules: ReadonlySet<number> = new Set();

/**
 * The actor of the current call of Strapi's document service. Logic runs in another process and its calls arrive outside of
 * its request: so each call sets its actor, and the requester carries the rules along.
 */
export function createActorContext(strapi: Core.Strapi, requesters: Requesters) {
  const actors = new AsyncLocalStorage<Actor>();
  const chains = new WeakMap<Requester, ReadonlySet<number>>();

  return {
    /** Wraps the document calls of logic: each runs with its requester as the actor. */
    wrapDocuments: (documents: DocumentCalls): DocumentCalls => {
      return async (uid, method, params, requester) => {
        const { check, run, ...call } = await documents(uid, method, params, requester);
        const actor = { requester, chain: chains.get(requester) ?? noRules };
        const runAsActor = <T>(work: () => Promise<T>) => actors.run(actor, work);
        return { ...call, ...(check ? { check: () => runAsActor(check) } : {}), run: () => runAsActor(run) };
      };
    },

    /** The rules that have led to what a requester does, for the jobs that it adds. */
    rulesOf: (requester: Requester): readonly number[] => [...(chains.get(requester) ?? noRules)],

    /** A copy of the requester, for a function to which these rules have led. */
    withRules(requester: Requester, rules: Iterable<number>): Requester {
      const copy = Object.freeze({ ...requester });
      chains.set(copy, new Set(rules));
      return copy;
    },

    /** The current actor: logic's requester, else that of Strapi's own request; anonymous in code outside of requests. */
    async current(): Promise<Actor> {
      const actor = actors.getStore();
      if (actor) return actor;
      const state = strapi.requestContext.get()?.state as { auth?: StrapiAuth; user?: unknown } | undefined;
      const requester = await requesters.fromStrapi(state ?? {}).catch((error: unknown) => {
        // Strapi gives users whose role was deleted the public's permissions.
        if (isAppsError(error, 'UnauthorizedError')) return requesters.anonymous();
        throw error;
      });
      return { requester, chain: noRules };
    },
  };
}

export type ActorContext = ReturnType<typeof createActorContext>;

/** An event, with the job of a rule. */
interface Due {
  contentEvent: ContentEvent;
  job: NewJob;
}

interface Stored {
  contentEvent: ContentEvent;
  id: string;
}

/**
 * Stores the jobs of a transaction's events. Saving and publishing a draft in one transaction is one publication: the Content
 * Manager's button *Publish* saves the form first.
 */
function createPublications(strapi: Core.Strapi, jobs: Pick<Jobs, 'insert' | 'withdraw'>) {
  const lists = new WeakMap<object, Stored[]>();

  return {
    /** @param happened all events of the action, which must be in a transaction */
    async store(due: readonly Due[], happened: readonly ContentEvent[]): Promise<void> {
      const trx = (await strapi.db.transaction()).get() as object;
      const earlier = lists.get(trx) ?? [];
      const published = happened.filter(({ event }) => event === 'publish');
      const replaced = earlier.filter(({ contentEvent }) => published.some((one) => isSavedFor(contentEvent, one)));
      await jobs.withdraw(replaced.map(({ id }) => id));
      const ids = due.length > 0 ? await jobs.insert(due.map(({ job }) => job)) : [];
      const added = due.flatMap(({ contentEvent }, at) => ({ contentEvent, id: String(ids[at]) }));
      lists.set(trx, [...earlier.filter((one) => !replaced.includes(one)), ...added]);
    },
  };
}

/** Whether an update only saved the draft that is then published. */
function isSavedFor(before: ContentEvent, published: ContentEvent): boolean {
  const { event, uid, documentId, locale } = before;
  const same = uid === published.uid && documentId === published.documentId && locale === published.locale;
  return same && event === 'update' && !before.published;
}

const RULE = 'plugin::apps.rule';

interface Rule {
  id: number;
  documentId: string;
  name: string;
  enabled: boolean;
  event: Event;
  app: string;
  block: string;
  function: string;
  failures?: RuleFailure[] | null;
}

/** Failures that a rule keeps, the latest first. */
const MAX_FAILURES = 20;

/** Characters of an item as JSON; a larger one is not carried by its event. */
const MAX_ITEM = 256_000;

interface RulesOptions {
  strapi: Core.Strapi;
  logger: Logger;
  database: Pick<HostDatabase, 'transaction'>;
  sites: Sites;
  jobs: Jobs;
  actorContext: ActorContext;
  /** Called at each event, because the services are created after the rules. */
  services(): CallServices;
}

/** What a rule's job carries. */
interface RuleData {
  rule: number;
  contentEvent: ContentEvent;
  /** The item when it happened; null where the actor may not read it, and where it is too large. */
  item: Items | null;
  /** Ids of the rules that led to the event. */
  chain: number[];
}

/**
 * Rules on events of the host's content (docs/reference/events.md#rules-on-events). Each event of a rule is a job, stored in
 * the transaction of the change; a failing function does not undo the editor's action.
 */
export function createRules({ strapi, logger, database, sites, jobs, actorContext, services }: RulesOptions) {
  const items = createItems(strapi, sites);
  const contentEvents = createContentEvents(strapi);
  const publications = createPublications(strapi, jobs);

  const report = (error: unknown) =>
    logger.error(`[apps] rules on events: ${String((error as Error)?.stack ?? error)}`);

  /** The enabled rules for the possible events, except those that led to the action. */
  async function dueRules({ uid }: Action, possible: readonly Event[], { chain }: Actor): Promise<Rule[]> {
    const where = { enabled: true, contentType: uid, event: { $in: possible } };
    const found: Rule[] = await strapi.db.query(RULE).findMany({ where, orderBy: { id: 'asc' } });
    return found.filter(({ id }) => !chain.has(id));
  }

  /** The item of an event as its actor may read it. That it cannot be read is no reason to refuse the change. */
  async function itemOf(contentEvent: ContentEvent, { requester }: Actor): Promise<Items | null> {
    const [site] = await sites.all();
    if (!site) return null;
    const read = () => items.read(site, contentEvent, requester);
    try {
      const item = await (strapi.db.inTransaction() ? belowSavepoint(strapi, read) : read());
      return item ? carried(item) : null;
    } catch (error) {
      report(error);
      return null;
    }
  }

  /** Reads what cannot be read after the action. */
  async function prepare(action: Action, possible: readonly Event[]) {
    const actor = await actorContext.current();
    const rules = await dueRules(action, possible, actor);
    // A publication counts even without rules of its own: it takes back the pending update that saved its draft.
    const isNeeded = rules.length > 0 || action.action === 'publish';
    const before = isNeeded ? await contentEvents.before(action) : [];
    const deleted = new Map<string | null, Items | null>();
    if (rules.length > 0 && action.action === 'delete')
      for (const contentEvent of await contentEvents.of(action, before, action.params))
        deleted.set(contentEvent.locale, await itemOf(contentEvent, actor));
    return { actor, rules, deleted, before, isNeeded };
  }

  type Prepared = Awaited<ReturnType<typeof prepare>>;

  async function jobOf(rule: Rule, contentEvent: ContentEvent, actor: Actor, item: Items | null): Promise<NewJob> {
    const { uid, documentId, locale } = contentEvent;
    const site = (await siteOfApp(sites, rule.app, locale)) ?? (await sites.all())[0];
    const data: RuleData = { rule: rule.id, contentEvent, item, chain: [...actor.chain] };
    return {
      key: { site: site?.id ?? '', app: rule.app },
      kind: 'rule',
      name: `${rule.name}: ${rule.block}/${rule.function}`,
      data: data as unknown as Items,
      requester: authorityOf(actor.requester),
      jobKey: null,
      sequence: `${uid} ${documentId}`,
      dueAt: null,
    };
  }

  /** Stores the jobs of what has happened, in the transaction of the action. */
  async function notice(action: Action, { actor, rules, deleted, before }: Prepared, result: unknown): Promise<void> {
    const happened = await contentEvents.of(action, before, result);
    const due: { contentEvent: ContentEvent; job: NewJob }[] = [];
    for (const contentEvent of happened) {
      const called = rules.filter(({ event }) => event === contentEvent.event);
      if (called.length === 0) continue;
      const { locale } = contentEvent;
      const item = contentEvent.event === 'delete' ? (deleted.get(locale) ?? null) : await itemOf(contentEvent, actor);
      for (const rule of called) due.push({ contentEvent, job: await jobOf(rule, contentEvent, actor, item) });
    }
    await publications.store(due, happened);
  }

  async function noteFailure({ id, name }: Rule, documentId: string, reason: string): Promise<void> {
    logger.error(`[apps] the rule "${name}" failed for ${documentId}: ${reason}`);
    const rule: Rule | null = await strapi.db.query(RULE).findOne({ where: { id } });
    if (!rule) return;
    const message = services().masks.text(reason);
    const failures = [{ at: new Date().toISOString(), documentId, message }, ...(rule.failures ?? [])];
    await strapi.db.query(RULE).update({ where: { id }, data: { failures: failures.slice(0, MAX_FAILURES) } });
  }

  /** Does the job of a rule. One that was deleted or switched off since has nothing left to do. */
  const handler: JobHandler = async (attempt) => {
    const { key, data, attempts, wasMissing } = attempt.job;
    const { rule: id, contentEvent, item, chain } = data as unknown as RuleData;
    const rule: Rule | null = await strapi.db.query(RULE).findOne({ where: { id } });
    if (rule?.enabled !== true) return { status: null, answer: null };
    const { event, uid, documentId, locale, published } = contentEvent;
    try {
      const all = services();
      const site = await siteOfJob(all, key.site);
      const requester = actorContext.withRules(await requesterOfJob(all, attempt), [...chain, id]);
      const content = event === 'delete' ? null : await items.read(site, contentEvent, requester);
      const params: Items = { rule: rule.name, event, content_type: uid, document_id: documentId, locale, item };
      const cause = { id: rule.documentId, event, contentType: uid, documentId, locale, published };
      const target = { app: rule.app, block: rule.block, name: rule.function };
      await callOfJob(all, attempt, { site, target, subject: { content, params, requester, rule: cause } });
    } catch (error) {
      // The later tries of one failure are the job's own history.
      const message = error instanceof JobFailure ? error.message : 'The server failed; its log says why';
      if (!(error instanceof JobFailure)) report(error);
      if (attempts === 1 && !wasMissing) await noteFailure(rule, documentId, message);
      throw error;
    }
    return { status: null, answer: null };
  };

  return {
    handler,
    /** Watches all of Strapi's document service. */
    start(): void {
      strapi.documents.use((async (action: Action, next: () => Promise<unknown>) => {
        const possible = eventsOf(action);
        if (possible.length === 0) return next();
        const prepared = await prepare(action, possible);
        if (!prepared.isNeeded) return next();
        return database.transaction(async () => {
          const result = await next();
          await notice(action, prepared, result);
          return result;
        });
      }) as never);
    },
  };
}

/** Runs a read whose failing statement must not undo the transaction that it is in. */
async function belowSavepoint<T>(strapi: Core.Strapi, read: () => Promise<T>): Promise<T> {
  const trx = (await strapi.db.transaction()).get();
  await trx.raw('savepoint apps_event');
  try {
    const result = await read();
    await trx.raw('release savepoint apps_event');
    return result;
  } catch (error) {
    await trx.raw('rollback to savepoint apps_event');
    throw error;
  }
}

/** An item as an event carries it: as `context.content` has it, in JSON. Null when it is too large. */
function carried({ type, id, documentId, title, url, path, locale, fields }: ContentItem): Items | null {
  const item: Items = { type, id, document_id: documentId, title, url, path, locale, fields };
  return JSON.stringify(item).length > MAX_ITEM ? null : item;
}
