import { AsyncLocalStorage } from 'node:async_hooks';
import type { Core } from '@strapi/strapi';
import type { RuleEvent as Event, RuleFailure } from '../../../shared/admin-api';
import type { Items } from '../../../shared/json';
import { errorText, fieldLines, isAppsError } from '../common/errors';
import type { Logger } from '../common/log';
import type { ContentItem, Site, Sites } from '../sites/types';
import type { Actor, ActorContext } from './actor-context';
import { createAfterCommit, type Due } from './after-commit';
import { type CallServices, callIn } from './calls';
import { type Action, type ContentEvent, createContentEvents, eventsOf } from './host-events';
import { createItems } from './items';
import { siteOfApp } from './rule-targets';

const RULE = 'plugin::apps.rule';

interface Rule {
  id: number;
  documentId: string;
  name: string;
  event: Event;
  app: string;
  block: string;
  function: string;
  failures?: RuleFailure[] | null;
}

/** Failures that a rule keeps, the latest first. */
const MAX_FAILURES = 20;

/** Functions that may wait in the queue; further ones are dropped, so that memory stays bounded. */
const MAX_WAITING = 5_000;

export interface RulesOptions {
  strapi: Core.Strapi;
  logger: Logger;
  sites: Sites;
  actorContext: ActorContext;
  /** Called at each event, because the services are created after the rules. */
  services(): CallServices;
}

/**
 * Rules on events of the host's content (docs/reference/events.md#rules-on-events). The functions run one after the
 * other, after the commit and after the editor's request: a failing function does not undo the editor's action.
 */
export function createRules({ strapi, logger, sites, actorContext, services }: RulesOptions) {
  const items = createItems(strapi, sites);
  const contentEvents = createContentEvents(strapi);
  const afterCommit = createAfterCommit(strapi);
  /** Runs code outside of the event's request and transaction. */
  const outside = AsyncLocalStorage.snapshot();
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;

  const report = (error: unknown) =>
    logger.error(`[apps] rules on events: ${String((error as Error)?.stack ?? error)}`);

  /** The enabled rules for the possible events, except those that led to the action. */
  async function dueRules({ uid }: Action, possible: readonly Event[], { chain }: Actor): Promise<Rule[]> {
    const where = { enabled: true, contentType: uid, event: { $in: possible } };
    const found: Rule[] = await strapi.db.query(RULE).findMany({ where, orderBy: { id: 'asc' } });
    return found.filter(({ id }) => !chain.has(id));
  }

  /** Reads what `notice` needs and cannot be read after the action. */
  async function prepare(action: Action, possible: readonly Event[]) {
    const actor = await actorContext.current();
    const rules = await dueRules(action, possible, actor);
    const site = (await sites.all())[0] as Site;
    // A publication counts even without rules of its own: it removes the pending update that saved its draft.
    const needed = rules.length > 0 || action.action === 'publish';
    const before = needed ? await contentEvents.before(action) : [];
    const deletedItems = new Map<string | null, ContentItem | null>();
    if (rules.length > 0 && action.action === 'delete') {
      for (const contentEvent of await contentEvents.of(action, before, action.params)) {
        deletedItems.set(contentEvent.locale, await items.read(site, contentEvent, actor.requester));
      }
    }
    return { actor, rules, site, deletedItems, before, needed };
  }

  type Prepared = Awaited<ReturnType<typeof prepare>>;

  async function notice(action: Action, prepared: Prepared, result: unknown): Promise<void> {
    const { actor, rules, site, deletedItems, before } = prepared;
    const happened = await contentEvents.of(action, before, result);
    const due = happened.flatMap((contentEvent) =>
      rules
        .filter(({ event }) => event === contentEvent.event)
        .map((rule): Due => {
          const subject = { site, contentEvent, deleted: deletedItems.get(contentEvent.locale) ?? null };
          return { contentEvent, work: () => enqueue(rule, actor, subject) };
        }),
    );
    await afterCommit(due, happened);
  }

  async function run(rule: Rule, actor: Actor, subject: Subject): Promise<void> {
    const { contentEvent, deleted } = subject;
    const { event, uid, documentId, locale, published } = contentEvent;
    const requester = actorContext.forRule(actor, rule.id);
    try {
      const site = (await siteOfApp(sites, rule.app, locale)) ?? subject.site;
      const content = await (deleted
        ? sites.content.describe(site, uid, deleted.fields, deleted)
        : items.read(site, contentEvent, requester));
      if (!content) return;
      const params: Items = { rule: rule.name, event, content_type: uid, document_id: documentId, locale };
      const cause = { id: rule.documentId, event, contentType: uid, documentId, locale, published };
      const target = { app: rule.app, block: rule.block, name: rule.function };
      await callIn(services(), site, target, { content, params, requester, rule: cause });
    } catch (error) {
      await noteFailure(rule, documentId, error);
    }
  }

  async function noteFailure({ id, name }: Rule, documentId: string, error: unknown): Promise<void> {
    const message = isAppsError(error)
      ? [`${error.name}: ${errorText(error)}`, ...fieldLines(error)].join('\n')
      : 'The server failed; its log says why';
    logger.error(`[apps] the rule "${name}" failed for ${documentId}: ${message}`);
    if (!isAppsError(error)) report(error);
    const rule: Rule | null = await strapi.db.query(RULE).findOne({ where: { id } });
    if (!rule) return;
    const failures = [{ at: new Date().toISOString(), documentId, message }, ...(rule.failures ?? [])];
    await strapi.db.query(RULE).update({ where: { id }, data: { failures: failures.slice(0, MAX_FAILURES) } });
  }

  function enqueue(rule: Rule, actor: Actor, subject: Subject): void {
    if (waiting >= MAX_WAITING) return logger.error(`[apps] too many rules wait: "${rule.name}" was left out`);
    waiting += 1;
    last = last
      .then(() => outside(run, rule, actor, subject))
      .catch(report)
      .finally(() => {
        waiting -= 1;
      });
  }

  return {
    /** Watches all of Strapi's document service. */
    start(): void {
      strapi.documents.use((async (action: Action, next: () => Promise<unknown>) => {
        const possible = eventsOf(action);
        if (possible.length === 0) return next();
        const prepared = await prepare(action, possible).catch(report);
        const result = await next();
        if (prepared?.needed) await notice(action, prepared, result).catch(report);
        return result;
      }) as never);
    },
    /** Resolves when the queue is empty. */
    idle: () => last,
  };
}

/** The item for which a rule's function runs. */
interface Subject {
  site: Site;
  contentEvent: ContentEvent;
  /** The item before its deletion. */
  deleted: ContentItem | null;
}
