import { type AppsError, attempt, type SourcePosition } from '../../common/errors';
import { memoized } from '../../common/memo';
import { type RuleAction, ruleActions, selectorProblem } from '../../layouts';
import { type ThemeFile, trimSlashes } from '../../sites';
import { compilePattern, type PatternTest } from '../patterns/pattern';
import { type Check, check } from '../yaml/check';
import { describe, isMapping, mapping, text } from '../yaml/schema';
import { readYaml, type YamlNode } from '../yaml/yaml';
import { type BlockReference, blockReference } from './embed-reference';

/**
 * A checked theme rule (docs/reference/embedding.md#theme-rules): inserts a block into each page of the site that meets
 * its conditions.
 */
export interface ThemeRule {
  action: RuleAction;
  /** CSS selector of the elements of the page that the action applies to. */
  target: string;
  include: BlockReference;
  /** CSS selector in the included page. */
  select: string;
  /** Whether the rule applies to a page, by its path below the site; null: to all. */
  matchesPath: PatternTest | null;
  /** CSS selector that the page must match; null: no condition. */
  ifContent: string | null;
  position: SourcePosition;
}

export interface ThemeRules {
  rules: ThemeRule[];
  /** DefinitionErrors of rules.yaml; a broken rule is left out, the others are applied. */
  errors: AppsError[];
}

const selector = check(text.schema, (given, at) => {
  const problem = selectorProblem(given);
  return problem === null ? given : at.fail(`This is not a CSS selector: ${problem}`);
});

const include = check(
  text.schema,
  (value, at): BlockReference =>
    blockReference(value) ??
    at.fail(`This must be a block's address, such as /@@apps/rating/blocks/rate, not ${describe(value)}`),
);

/** Maximum wildcards of one pattern. */
const MAX_WILDCARDS = 8;

/** `*` matches any text without a slash, `**` any text, `?` one character but a slash; a slash at the end is optional. */
const glob = check(text.schema, (pattern, at): PatternTest => {
  const parts = pattern.length > 400 ? [] : `/${trimSlashes(pattern)}`.split(/(\*+|\?)/);
  if (pattern.length > 400 || parts.length > 2 * MAX_WILDCARDS + 1) {
    return at.fail(`A pattern has at most 400 characters and ${MAX_WILDCARDS} wildcards`);
  }
  const source = parts.map((part) => wildcards[part.slice(0, 2)] ?? part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  // Not a RegExp: it would backtrack over the wildcards on a visitor's long path.
  return compilePattern(`${source.join('')}/?`);
});

const wildcards: Record<string, string> = { '*': '[^/]*', '**': '.*', '?': '[^/]' };

const actions = Object.fromEntries(ruleActions.map((action) => [action, selector])) as Record<
  RuleAction,
  Check<string>
>;

/** Keys of a rule. */
const ruleKeys = mapping({ ...actions, include, select: selector, if_path: glob, if_content: selector });

const rule = check(ruleKeys.schema, (value, at): ThemeRule => {
  const given = ruleKeys.read(value, at);
  const [action, ...more] = ruleActions.filter((name) => given[name] !== undefined);
  const target = action && given[action];
  if (!action || target === undefined || more.length > 0)
    return at.fail(`A rule needs exactly one of ${ruleActions.join(', ')}`);
  if (!given.include) return at.fail('A rule needs an "include"');
  return {
    action,
    target,
    include: given.include,
    select: given.select ?? 'form',
    matchesPath: given.if_path ?? null,
    ifContent: given.if_content ?? null,
    position: at.position,
  };
});

/** Maximum characters of all selectors of a theme. */
const MAX_SELECTORS = 20_000;

/** Refuses the rule that exceeds the limit of all selectors, and those after it, before their selectors are compiled. */
function selectorLimit(): (at: YamlNode) => void {
  let length = 0;
  return (at) => {
    const { value } = at;
    for (const key of isMapping(value) ? [...ruleActions, 'select', 'if_content'] : []) {
      const given = isMapping(value) ? value[key] : undefined;
      if (typeof given === 'string') length += given.length;
    }
    if (length > MAX_SELECTORS) at.fail(`The selectors of a theme have at most ${MAX_SELECTORS} characters together`);
  };
}

/** Maximum rules of a theme: every page is searched for each. Further ones are ignored. */
const MAX_RULES = 200;

/** Reads a theme's rules.yaml, once for each file object. */
export const readRules = memoized((file: ThemeFile): ThemeRules => {
  const found: ThemeRules = { rules: [], errors: [] };
  const checked = <T>(work: () => T): T | null => {
    const { value, error } = attempt(work);
    if (error) found.errors.push(error);
    return value;
  };
  const entries = checked(() => entriesOf(readYaml(file))) ?? [];
  checked(() => entries[MAX_RULES]?.fail(`A theme has at most ${MAX_RULES} rules`));
  const limit = selectorLimit();
  for (const at of entries.slice(0, MAX_RULES)) {
    const read = checked(() => {
      limit(at);
      return rule(at);
    });
    if (read) found.rules.push(read);
  }
  return found;
});

/** The whole file, for editors. The server reads rules one by one, because a broken one must not break the others. */
export const rulesFile = rule.schema.array().max(MAX_RULES);

function entriesOf(root: YamlNode): YamlNode[] {
  if (root.value === null) return [];
  if (!Array.isArray(root.value)) return root.fail(`The file must be a list of rules, not ${describe(root.value)}`);
  return root.value.map((_, index) => root.child(index));
}
