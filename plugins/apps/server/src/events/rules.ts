import { AsyncLocalStorage } from 'node:async_hooks';
import type { Core } from '@strapi/strapi';
import type { RuleEvent as Event, RuleFailure } from '../../../shared/admin-api';
import type { Items } from '../../../shared/json';
import { placedMessage } from '../apps';
import { isAppsError } from '../errors';
import type { Logger } from '../log';
import type { ContentItem, Site, Sites } from '../sites/types';
import type { Acting, Actor } from './acting';
import type { Calls } from './calls';
import { createItems } from './items';
import { siteOfApp } from './rule-entries';

const RULE = 'plugin::apps.rule';

interface Rule {
  id: number;
  name: string;
  event: Event;
  app: string;
  block: string;
  function: string;
  failures?: RuleFailure[] | null;
}

/** Failures that a rule keeps, the latest first. */
const MAX_FAILURES = 20;

/** Functions that may wait for their turn; an avalanche is cut off rather than to fill the memory. */
const MAX_WAITING = 5_000;

/** What Strapi's document service calls its actions, and the events that they are (with `status: published` besides). */
const events: Record<string, Event> = {
  create: 'create',
  clone: 'create',
  update: 'update',
  delete: 'delete',
  publish: 'publish',
  unpublish: 'unpublish',
};

/** A call of the document service, as its middlewares see it. */
interface Action {
  action: string;
  uid: string;
  contentType: { options?: { draftAndPublish?: boolean } };
  params: { documentId?: string; status?: string };
}

export interface RulesOptions {
  strapi: Core.Strapi;
  logger: Logger;
  sites: Sites;
  acting: Acting;
  calls: Calls;
}

/**
 * Rules on events of the host's content (contract, section 11). The functions run one after the other, after the commit
 * and after the editor's request: whatever they do or fail to do, the editor's action is whole.
 */
export function createRules({ strapi, logger, sites, acting, calls }: RulesOptions) {
  const items = createItems(strapi, sites);
  /** Away from the request and the transaction that brought the event. */
  const outside = AsyncLocalStorage.snapshot();
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;

  const report = (error: unknown) =>
    logger.error(`[apps] rules on events: ${String((error as Error)?.stack ?? error)}`);

  /** The enabled rules for what is about to happen; none when even that cannot be found out. */
  async function dueRules({ uid }: Action, happening: Event[], { chain }: Actor): Promise<Rule[]> {
    const where = { enabled: true, contentType: uid, event: { $in: happening } };
    const found: Rule[] = await strapi.db.query(RULE).findMany({ where, orderBy: { id: 'asc' } });
    return found.filter(({ id }) => !chain.has(id));
  }

  async function prepare(action: Action, happening: Event[]) {
    const actor = await acting.now();
    const rules = await dueRules(action, happening, actor);
    const site = (await sites.all())[0] as Site;
    const { documentId } = action.params;
    const gone =
      rules.length > 0 && action.action === 'delete' && documentId
        ? await items.read(site, action.uid, documentId, actor.requester, 'delete')
        : null;
    return { actor, rules, site, gone };
  }

  async function run(rule: Rule, actor: Actor, subject: Subject): Promise<void> {
    const { site, uid, documentId } = subject;
    const requester = acting.forRule(actor, rule.id);
    try {
      const content = subject.gone ?? (await items.read(site, uid, documentId, requester, rule.event));
      if (!content) return;
      const params: Items = { rule: rule.name, event: rule.event, content_type: uid, document_id: documentId };
      const options = { content, params, requester, site: (await siteOfApp(sites, rule.app))?.id ?? site.id };
      await calls.call(`${rule.app}/${rule.block}/${rule.function}`, options);
    } catch (error) {
      await noteFailure(rule, documentId, error);
    }
  }

  async function noteFailure({ id, name }: Rule, documentId: string, error: unknown): Promise<void> {
    const message = isAppsError(error)
      ? `${error.name}: ${placedMessage(error)}`
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
        const happening = eventsOf(action);
        if (happening.length === 0) return next();
        const prepared = await prepare(action, happening).catch(report);
        const result = await next();
        if (!prepared || prepared.rules.length === 0) return result;
        const { actor, rules, site, gone } = prepared;
        const documentId = (result as { documentId?: string } | null)?.documentId;
        if (!documentId) return result;
        const subject: Subject = { site, uid: action.uid, documentId, gone };
        await afterCommit(strapi, () => {
          for (const rule of rules) enqueue(rule, actor, subject);
        });
        return result;
      }) as never);
    },
    /** Resolves when all functions that are due have run. */
    idle: () => last,
  };
}

/** What a rule's function is about. */
interface Subject {
  site: Site;
  uid: string;
  documentId: string;
  /** The item as it was before it was deleted. */
  gone: ContentItem | null;
}

/** The events that an action of the document service means; only the host's own content has any. */
function eventsOf({ action, uid, contentType, params }: Action): Event[] {
  const event = Object.hasOwn(events, action) ? events[action] : undefined;
  if (!event || !uid.startsWith('api::')) return [];
  const publishes = contentType.options?.draftAndPublish === true && params.status === 'published';
  return publishes && (event === 'create' || event === 'update') ? [event, 'publish'] : [event];
}

/** Calls `work` once the transaction that is open now has been committed; at once where none is. */
async function afterCommit(strapi: Core.Strapi, work: () => void): Promise<void> {
  if (!strapi.db.inTransaction()) return work();
  await strapi.db.transaction(async ({ onCommit }: { onCommit(callback: () => void): void }) => onCommit(work));
}
