import type { Core } from '@strapi/strapi';
import type { Rule, RuleChoices, RuleInput, RuleTarget, RunRule } from '../../../shared/admin-api';
import type { Items } from '../../../shared/json';
import type { Requester } from '../auth/types';
import { notFound } from '../common/errors';
import type { ContentItem, Site } from '../sites/types';
import type { CallServices } from './calls';
import { createItems } from './host-events';
import { createRuleTargets, type KnownFunctions, readRule } from './rule-targets';

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
