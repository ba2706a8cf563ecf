import { AsyncLocalStorage } from 'node:async_hooks';
import type { Core } from '@strapi/strapi';
import type { RuleEvent as Event, RuleFailure } from '../../../shared/admin-api';
import type { Items } from '../../../shared/json';
import { placedMessage } from '../apps';
import { isAppsError } from '../errors';
import type { Logger } from '../log';
import type { ContentItem, Site, Sites } from '../sites/types';
import type { Acting, Actor } from './acting';
import { createAfterCommit, type Due } from './after-commit';
import type { Calls } from './calls';
import { type Action, createHappenings, eventsOf, type Happening } from './happenings';
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
  const happenings = createHappenings(strapi);
  const afterCommit = createAfterCommit(strapi);
  /** Away from the request and the transaction that brought the event. */
  const outside = AsyncLocalStorage.snapshot();
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;

  const report = (error: unknown) =>
    logger.error(`[apps] rules on events: ${String((error as Error)?.stack ?? error)}`);

  /** The enabled rules for what may be about to happen, except those that have led to it. */
  async function dueRules({ uid }: Action, possible: readonly Event[], { chain }: Actor): Promise<Rule[]> {
    const where = { enabled: true, contentType: uid, event: { $in: possible } };
    const found: Rule[] = await strapi.db.query(RULE).findMany({ where, orderBy: { id: 'asc' } });
    return found.filter(({ id }) => !chain.has(id));
  }

  /** What must be read before an action is carried out; null when reading it fails. */
  async function prepare(action: Action, possible: readonly Event[]) {
    const actor = await acting.now();
    const rules = await dueRules(action, possible, actor);
    const site = (await sites.all())[0] as Site;
    // A publication counts even without rules of its own: it removes the pending update that saved its draft.
    const needed = rules.length > 0 || action.action === 'publish';
    const before = needed ? await happenings.before(action) : [];
    const gone = new Map<string | null, ContentItem | null>();
    if (rules.length > 0 && action.action === 'delete') {
      for (const happening of await happenings.of(action, before, action.params)) {
        gone.set(happening.locale, await items.read(site, happening, actor.requester));
      }
    }
    return { actor, rules, site, gone, before, needed };
  }

  type Prepared = Awaited<ReturnType<typeof prepare>>;

  async function notice(action: Action, prepared: Prepared, result: unknown): Promise<void> {
    const { actor, rules, site, gone, before } = prepared;
    const happened = await happenings.of(action, before, result);
    const due = happened.flatMap((happening) =>
      rules
        .filter(({ event }) => event === happening.event)
        .map((rule): Due => {
          const subject = { site, happening, gone: gone.get(happening.locale) ?? null };
          return { happening, work: () => enqueue(rule, actor, subject) };
        }),
    );
    await afterCommit(due, happened);
  }

  async function run(rule: Rule, actor: Actor, subject: Subject): Promise<void> {
    const { happening, gone } = subject;
    const { event, uid, documentId, locale } = happening;
    const requester = acting.forRule(actor, rule.id);
    try {
      const site = (await siteOfApp(sites, rule.app, locale)) ?? subject.site;
      const content = await (gone
        ? sites.content.describe(site, uid, gone.fields, gone)
        : items.read(site, happening, requester));
      if (!content) return;
      const params: Items = { rule: rule.name, event, content_type: uid, document_id: documentId, locale };
      const options = { content, params, requester, site: site.id };
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
        const possible = eventsOf(action);
        if (possible.length === 0) return next();
        const prepared = await prepare(action, possible).catch(report);
        const result = await next();
        if (prepared?.needed) await notice(action, prepared, result).catch(report);
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
  happening: Happening;
  /** The item as it was before it was deleted. */
  gone: ContentItem | null;
}
