import type { AdminRouteEntry } from './permissions';

/** Routes of rules on events. */
export const ruleRoutes = {
  /** → Rule[], by name */
  rules: { method: 'GET', path: '/rules', needs: ['read', 'develop'] },
  /** → RuleChoices */
  ruleChoices: { method: 'GET', path: '/rules/choices', needs: ['read', 'develop'] },
  /** query: RuleTarget → string[], the functions of the block's logic; 400 for an unknown app or block */
  ruleFunctions: { method: 'GET', path: '/rules/functions', needs: 'manage' },
  /** RuleInput → 201 Rule; 400 with `details.key` for a wrong value or one that does not exist */
  createRule: { method: 'POST', path: '/rules', needs: 'manage' },
  /** Partial RuleInput → Rule; 400 as above, 404 for an unknown rule */
  updateRule: { method: 'PUT', path: '/rules/:rule', needs: 'manage' },
  /** → `{ success: 'deleted' }`; 404 for an unknown rule */
  deleteRule: { method: 'DELETE', path: '/rules/:rule', needs: 'manage' },
} as const satisfies Record<string, AdminRouteEntry>;

/** An event of a content item that a rule's function can run on. */
export const ruleEvents = ['create', 'update', 'delete', 'publish', 'unpublish'] as const;

export type RuleEvent = (typeof ruleEvents)[number];

/** The block whose function a rule calls. */
export interface RuleTarget {
  app: string;
  block: string;
}

/** The fields of a rule on events that can be set. */
export interface RuleInput extends RuleTarget {
  /** 1 to 255 characters. */
  name: string;
  enabled: boolean;
  event: RuleEvent;
  /** Uid of a content type of the host, `api::article.article`. */
  contentType: string;
  function: string;
}

export interface Rule extends RuleInput {
  /** Document id of the entry. */
  id: string;
  /** The latest first, 20 at most. */
  failures: RuleFailure[];
  /** Why it cannot run: its app, block or function is missing or broken since it was saved. Only in the list. */
  problem: string | null;
}

/** A failure of a rule's function. */
export interface RuleFailure {
  /** ISO 8601. */
  at: string;
  documentId: string;
  message: string;
}

/** The content types of rules, and the functions that they can call. */
export interface RuleChoices {
  contentTypes: { uid: string; name: string /** Whether its items are published. */; hasDrafts: boolean }[];
  /** Apps of all sites' active themes, each with its blocks that have logic. */
  apps: { id: string; blocks: string[] }[];
}
