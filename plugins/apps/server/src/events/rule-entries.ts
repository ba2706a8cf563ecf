import type { Core } from '@strapi/strapi';
import { z } from 'zod';
import {
  type Rule,
  type RuleChoices,
  type RuleInput,
  type RuleTarget,
  type RunRule,
  ruleEvents,
} from '../../../shared/admin-api';
import type { Items } from '../../../shared/json';
import { callVisit, functionNames, newDryRun } from '../apps';
import type { Requester } from '../auth/types';
import { AppsError, errorText, isAppsError, missing, notFound } from '../common/errors';
import { didYouMean } from '../common/text';
import { bodyOf, must, validateBody } from '../common/validation';
import { idPattern } from '../sites';
import type { ContentItem, Site, Sites } from '../sites/types';
import type { CallServices } from './calls';
import { createItems } from './host-events';

/** Characters of each text of a rule: the length of the database's string columns. */
const MAX_LENGTH = 255;

function text(what: string, pattern = /\S/) {
  const wanted = must(what);
  return z.string(wanted).max(MAX_LENGTH, wanted).regex(pattern, wanted);
}

const schema: z.ZodType<RuleInput> = bodyOf({
  name: text(`a text of 1 to ${MAX_LENGTH} characters`).trim(),
  enabled: z.boolean(must('true or false')),
  event: z.enum(ruleEvents, must(`one of ${ruleEvents.join(', ')}`)),
  contentType: text('the uid of a content type'),
  app: text('the id of an app', idPattern),
  block: text('the id of a block', idPattern),
  function: text('the name of a function', /^[A-Za-z_$][\w$]*$/),
});

/** Validates a rule. BadRequestError that names the first unknown, missing or wrong key. */
const readRule = (items: unknown): RuleInput => validateBody(schema, items);

/** The BadRequestError for one key; `details.key` names it for the panel's form. */
function wrongKey(key: string, message: string): AppsError {
  return new AppsError('BadRequestError', message, { details: { key } });
}

/** Functions of blocks, by app and block. */
type KnownFunctions = Map<string, Promise<readonly string[]>>;

/** What rules can name: content types, and the functions of blocks. */
interface RuleTargets {
  /** Functions of a block's logic, sorted. BadRequestError for an app or block that does not exist. */
  functions(target: RuleTarget, manager: Requester): Promise<readonly string[]>;
  choices(): Promise<RuleChoices>;
  /** BadRequestError with `details.key` unless the rule's content type, event and function exist. */
  check(rule: RuleInput, manager: Requester): Promise<void>;
  /** Why a stored rule cannot run, because files have changed; null: it can. @param known functions found for other rules */
  problemOf(rule: RuleInput, manager: Requester, known: KnownFunctions): Promise<string | null>;
}

/** @param services called at each use, because the services are created after the rules */
function createRuleTargets(strapi: Core.Strapi, services: () => CallServices): RuleTargets {
  async function functions({ app: appId, block }: RuleTarget, manager: Requester): Promise<readonly string[]> {
    const all = services();
    const site = await siteOfApp(all.sites, appId);
    const app = site && (await all.loadApp(site, appId));
    if (!site || !app) {
      const all = (await choices()).apps.map(({ id }) => id);
      throw wrongKey('app', `No site has an app "${appId}"${instead(appId, all)}`);
    }
    if (!app.blocks.has(block)) {
      const known = [...app.blocks.values()].flatMap(({ id, logic }) => (logic ? [id] : []));
      throw wrongKey('block', `${missing.block(block, appId)}${instead(block, known)}`);
    }
    const content = await all.sites.content.resolve(site, '', manager);
    if (!content) throw new AppsError('InternalServerError', 'The site has no root');
    const address = all.sites.urls.block(site, appId, block);
    // Dry, because loading the logic is not a run of the app.
    const visit = callVisit(all, {
      site,
      content,
      requester: manager,
      address,
      params: {},
      through: 'rule',
      dry: newDryRun(),
    });
    try {
      return await functionNames(all, visit, app, block);
    } catch (error) {
      // Its definition or logic is broken; managers may see why.
      if (!(error instanceof AppsError) || error.status !== 500) throw error;
      throw wrongKey('block', errorText(error));
    }
  }

  async function requireTarget(rule: RuleInput, manager: Requester, functionsOf = functions): Promise<void> {
    const type = contentTypes(strapi).find(({ uid }) => uid === rule.contentType);
    if (!type) {
      const known = contentTypes(strapi).map(({ uid }) => uid);
      throw wrongKey(
        'contentType',
        `There is no content type "${rule.contentType}"${instead(rule.contentType, known)}`,
      );
    }
    if (!type.hasDrafts && (rule.event === 'publish' || rule.event === 'unpublish')) {
      throw wrongKey('event', `Items of "${rule.contentType}" have no drafts: they are never published or unpublished`);
    }
    const known = await functionsOf(rule, manager);
    if (known.includes(rule.function)) return;
    throw wrongKey(
      'function',
      `The block "${rule.block}" has no function "${rule.function}"${instead(rule.function, known)}`,
    );
  }

  async function problemOf(rule: RuleInput, manager: Requester, known: KnownFunctions): Promise<string | null> {
    const functionsOf: typeof functions = (target, who) => {
      const key = `${target.app}/${target.block}`;
      const found = known.get(key) ?? functions(target, who);
      known.set(key, found);
      return found;
    };
    try {
      await requireTarget(rule, manager, functionsOf);
      return null;
    } catch (error) {
      if (isAppsError(error)) return errorText(error);
      throw error;
    }
  }

  async function choices(): Promise<RuleChoices> {
    const { sites, loadApp } = services();
    const apps = new Map<string, string[]>();
    for (const site of await sites.all()) {
      for (const id of await sites.apps(site)) {
        const app = apps.has(id) ? null : await loadApp(site, id);
        const blocks = [...(app?.blocks.values() ?? [])].flatMap((block) => (block.logic ? [block.id] : []));
        if (app) apps.set(id, blocks);
      }
    }
    const sorted = [...apps].sort(([a], [b]) => (a < b ? -1 : 1));
    return { contentTypes: contentTypes(strapi), apps: sorted.map(([id, blocks]) => ({ id, blocks })) };
  }

  return { functions, choices, check: requireTarget, problemOf };
}

/** Names that a message lists. */
const MAX_NAMES = 20;

/** The hint for a missing name: the names that exist. */
function instead(given: string, known: readonly string[]): string {
  const more = known.length > MAX_NAMES ? ' …' : '';
  const list = known.length > 0 ? known.slice(0, MAX_NAMES).join(', ') + more : 'none';
  return `${didYouMean(given, known) || '.'} There are: ${list}`;
}

/** The host's own content types, by name. */
function contentTypes(strapi: Core.Strapi): RuleChoices['contentTypes'] {
  return Object.values(strapi.contentTypes)
    .filter(({ uid }) => uid.startsWith('api::'))
    .map(({ uid, info, options }) => ({
      uid,
      name: info.displayName,
      hasDrafts: options?.draftAndPublish === true,
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * The site of a rule's app: the first site with the app in the item's locale, else the first site with the app; null if no
 * site has it.
 */
export async function siteOfApp(sites: Sites, app: string, locale: string | null = null): Promise<Site | null> {
  const all = await sites.all();
  const sameLocale = all.filter((site) => locale !== null && site.locale === locale);
  for (const site of [...sameLocale, ...all]) if (await sites.app(site, app)) return site;
  return null;
}

const RULE = 'plugin::apps.rule';

/**
 * The entries of `plugin::apps.rule`, for managers only: the caller has checked that
 * (docs/reference/events.md#rules-on-events).
 */
export interface RuleEntries {
  /** By name, each with the state of its target. */
  list(manager: Requester): Promise<Rule[]>;
  choices(): Promise<RuleChoices>;
  /** Functions of a block's logic, sorted. BadRequestError for an app or block that does not exist. */
  functions(target: RuleTarget, manager: Requester): Promise<readonly string[]>;
  /** BadRequestError with `details.key` for what is wrong or does not exist. */
  create(input: Items, manager: Requester): Promise<Rule>;
  /** Changes the keys of the input. The same errors; NotFoundError for an unknown rule. */
  update(id: string, input: Items, manager: Requester): Promise<Rule>;
  /** The item of a run that a rule has caused, as the requester may read it now; null if it is gone. */
  item(site: Site, rule: RunRule, requester: Requester): Promise<ContentItem | null>;
  /** NotFoundError for an unknown rule. */
  delete(id: string): Promise<void>;
}

/** An entry as stored. */
type Row = Omit<Rule, 'id' | 'failures' | 'problem'> & { documentId: string; failures: Rule['failures'] | null };

/** @param services called at each use, because the services are created after the entries */
export function createRuleEntries(strapi: Core.Strapi, services: () => CallServices): RuleEntries {
  const targets = createRuleTargets(strapi, services);
  const documents = () => strapi.documents(RULE as never) as unknown as DocumentMethods;

  async function existing(documentId: string): Promise<Row> {
    const row = await documents().findOne({ documentId });
    if (!row) throw notFound('There is no such rule');
    return row;
  }

  return {
    functions: targets.functions,
    choices: targets.choices,
    async list(manager) {
      const rules: Rule[] = [];
      const known: KnownFunctions = new Map();
      const deadline = performance.now() + MAX_CHECK_TIME;
      for (const row of await documents().findMany({ sort: ['name:asc', 'id:asc'] })) {
        const problem = performance.now() < deadline ? await targets.problemOf(row, manager, known) : null;
        rules.push({ ...ruleOf(row), problem });
      }
      return rules;
    },
    async create(input, manager) {
      const rule = readRule({ enabled: true, ...input });
      await targets.check(rule, manager);
      return ruleOf(await documents().create({ data: rule }));
    },
    async update(documentId, input, manager) {
      const rule = readRule({ ...(inputOf(await existing(documentId)) as unknown as Items), ...input });
      // A rule whose function is gone can still be switched off.
      if (Object.keys(input).join() !== 'enabled' || rule.enabled) await targets.check(rule, manager);
      return ruleOf((await documents().update({ documentId, data: rule })) ?? (await existing(documentId)));
    },
    item: (site, { contentType: uid, ...rest }, requester) =>
      createItems(strapi, services().sites).read(site, { uid, ...rest }, requester),
    async delete(documentId) {
      await existing(documentId);
      await documents().delete({ documentId });
    },
  };
}

/** Milliseconds for checking all rules. */
const MAX_CHECK_TIME = 5_000;

/** The part of Strapi's document service that is used here. */
interface DocumentMethods {
  findOne(params: { documentId: string }): Promise<Row | null>;
  findMany(params: { sort: string[] }): Promise<Row[]>;
  create(params: { data: RuleInput }): Promise<Row>;
  update(params: { documentId: string; data: RuleInput }): Promise<Row | null>;
  delete(params: { documentId: string }): Promise<unknown>;
}

function inputOf({ name, enabled, event, contentType, app, block, function: called }: Row): RuleInput {
  return { name, enabled, event, contentType, app, block, function: called };
}

function ruleOf(row: Row): Rule {
  return { id: row.documentId, ...inputOf(row), failures: row.failures ?? [], problem: null };
}
